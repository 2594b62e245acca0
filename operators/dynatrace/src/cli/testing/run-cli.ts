/** Runs a command line inside the test's process. */
import { main, type ProcessParts } from '../main.ts'
import type { SubcommandEntry } from '../subcommand.ts'

/** What a test may say about the process. */
export interface CliParts {
  readonly stdin?: string
  readonly env?: ProcessParts['env']
  readonly isTTY?: boolean
  /** @default those of the product */
  readonly subcommands?: readonly SubcommandEntry[]
}

/** Exit code and output of `dynatrace-operator` with `args`. */
export async function runCli(args: readonly string[], parts: CliParts = {}) {
  const { stdin = '', env = {}, isTTY = false, subcommands } = parts
  const written = { stdout: '', stderr: '' }
  const sink = (name: 'stdout' | 'stderr') => ({
    isTTY,
    write: (text: string) => {
      written[name] += text
    },
  })
  const process = { env, readStdin: async () => stdin, stdout: sink('stdout'), stderr: sink('stderr') }
  const code = await main(['node', 'dynatrace-operator', ...args], process, subcommands)
  return { code, ...written }
}
