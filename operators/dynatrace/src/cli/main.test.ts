import { describe, expect, it } from 'vitest'
import { SUBCOMMANDS } from './subcommands.ts'
import { runCli } from './testing/run-cli.ts'

describe('the command line', () => {
  it('explains the exit codes, including those of plan', async () => {
    const { code, stdout } = await runCli(['--help'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/Exit codes:\n {2}0 .*\n {2}1 .*\n {2}2 {3}plan only.*\n {2}64 /)
  })

  it.each(SUBCOMMANDS.map(({ name }) => name))('shows options and examples of %s', async (name) => {
    const { code, stdout } = await runCli(['help', name])
    expect(code).toBe(0)
    expect(stdout).toMatch(new RegExp(`Examples?:\\n(.*\\n)*.*dynatrace-operator ${name}`))
  })
})
