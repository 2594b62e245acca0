import { Option } from 'commander'
import { describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { EXIT, type Subcommand, type SubcommandEntry } from './subcommand.ts'
import { runCli } from './testing/run-cli.ts'

const greet: Subcommand<{ readonly name: string }> = {
  configure: (command) =>
    command.addOption(new Option('--name <name>', 'whom').default('world')).addHelpText('after', '\nExample: greet'),
  run: async ({ name }, { stdout, logger }) => {
    const log = await logger()
    log.debug({ name }, 'greeting')
    if (name === 'nobody') throw new Error('there is nobody')
    stdout.write(`hello ${name}\n`)
    return EXIT.done
  },
}

function table() {
  const loaded: string[] = []
  const entry = (name: string): SubcommandEntry => ({
    name,
    summary: `does ${name}`,
    load: async () => {
      loaded.push(name)
      return { command: greet }
    },
  })
  return { loaded, subcommands: [entry('greet'), entry('leave')] }
}

describe('the command line', () => {
  it('prints its version and loads no subcommand', async () => {
    const { loaded, subcommands } = table()
    expect(await runCli(['--version'], { subcommands })).toEqual({
      code: 0,
      stdout: `${manifest.version}\n`,
      stderr: '',
    })
    expect(loaded).toEqual([])
  })

  it('lists the subcommands, examples and exit codes without loading one', async () => {
    const { loaded, subcommands } = table()
    const { code, stdout } = await runCli(['--help'], { subcommands })
    expect(code).toBe(0)
    for (const text of ['does greet', 'does leave', 'Examples:', 'Exit codes:', '64']) expect(stdout).toContain(text)
    expect(loaded).toEqual([])
  })

  it.each([[['greet', '--help']], [['help', 'greet']]])('shows the help of one subcommand by %j', async (args) => {
    const { loaded, subcommands } = table()
    const { code, stdout } = await runCli(args, { subcommands })
    expect(code).toBe(0)
    expect(stdout).toContain('--name <name>')
    expect(stdout).toContain('--log-level <level>')
    expect(stdout).toContain('Example: greet')
    expect(loaded).toEqual(['greet'])
  })

  it('runs a subcommand and gives it its options', async () => {
    const { loaded, subcommands } = table()
    expect(await runCli(['greet', '--name', 'leave'], { subcommands })).toEqual({
      code: 0,
      stdout: 'hello leave\n',
      stderr: '',
    })
    expect(loaded).toEqual(['greet'])
  })

  it('answers failures with 1 and the reason on standard error', async () => {
    const { code, stderr } = await runCli(['greet', '--name', 'nobody'], table())
    expect([code, stderr]).toEqual([1, 'dynatrace-operator: there is nobody\n'])
  })

  it.each([
    ['no subcommand', []],
    ['an unknown subcommand', ['dance']],
    ['an unknown option', ['greet', '--loud']],
    ['an unknown log level', ['greet', '--log-level', 'chatty']],
  ])('answers %s with 64 and help on standard error', async (_, args) => {
    const { code, stdout, stderr } = await runCli(args, table())
    expect([code, stdout]).toEqual([64, ''])
    expect(stderr).toContain('dynatrace-operator')
  })
})

describe('the log', () => {
  it.each([
    ['the option', ['--log-level', 'debug'], {}],
    ['the environment', [], { LOG_LEVEL: 'debug' }],
  ])('is JSON lines on standard error, at the level of %s', async (_, args, env) => {
    const { stdout, stderr } = await runCli(['greet', ...args], { ...table(), env })
    expect(stdout).toBe('hello world\n')
    expect(JSON.parse(stderr)).toMatchObject({ level: 'debug', msg: 'greeting', name: 'world' })
  })

  it.each([[{}], [{ LOG_LEVEL: 'chatty' }]])('begins at info with the environment %j', async (env) => {
    const { stderr } = await runCli(['greet'], { ...table(), env })
    expect(stderr).toBe('')
  })
})
