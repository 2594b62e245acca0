/** Runs a command line while its API server is down. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CapturedProcess, type CapturedRun, runCaptured } from './captured-process.ts'

/** Nothing listens on the port of the discard service. */
const SERVER = 'https://127.0.0.1:9'

/** The result of a command line without an API server. */
export interface RunWithoutServer extends CapturedRun {
  /** The address in the kubeconfig. */
  readonly server: string
  /** The messages of its log at level `warn` and above, oldest first. */
  readonly problems: readonly string[]
}

/**
 * Runs `main` with a kubeconfig whose server refuses connections. A command that retries for ever needs `interruptOn`.
 *
 * @example
 * const { code, problems } = await runWithoutServer(main, ['run'], { interruptOn: /cannot reach/ })
 */
export async function runWithoutServer(
  main: Parameters<typeof runCaptured>[0],
  args: readonly string[],
  options: CapturedProcess = {},
): Promise<RunWithoutServer> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-without-server-'))
  try {
    const KUBECONFIG = join(folder, 'kubeconfig')
    await writeFile(KUBECONFIG, JSON.stringify(kubeconfig()))
    const run = await runCaptured(main, args, { ...options, env: { ...options.env, KUBECONFIG } })
    return { ...run, server: SERVER, problems: problemsIn(run.stderr) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function kubeconfig(): object {
  return {
    'current-context': 'gone',
    contexts: [{ name: 'gone', context: { cluster: 'gone', user: 'me' } }],
    clusters: [{ name: 'gone', cluster: { server: SERVER } }],
    users: [{ name: 'me', user: { token: 'hunter22' } }],
  }
}

function problemsIn(log: string): readonly string[] {
  const entries = log.split('\n').filter((line) => line.startsWith('{'))
  return entries
    .map((line): { readonly level: string; readonly msg: string } => JSON.parse(line))
    .filter(({ level }) => level === 'warn' || level === 'error')
    .map(({ msg }) => msg)
}
