/**
 * `dynatrace-operator bootstrap`: the init container of an injected pod. It starts with every pod of a cluster, within
 * 60 MiB of memory and a tenth of a processor, so this file imports little, and what only downloads need is loaded by
 * them.
 */
import { configureAgent } from './configure-agent.ts'
import { enrich } from './enrich.ts'
import type { FlagValues } from './flags.ts'
import { createLog, type Log } from './log.ts'
import { POD_FLAGS, podOptions } from './pod-options.ts'
import { runProgram } from './run-program.ts'

/** The flags of the command. */
export const BOOTSTRAP_FLAGS = {
  ...POD_FLAGS,
  version: { kind: 'text', help: 'version to download; without it the target already contains an agent' },
  flavor: { kind: 'text', help: 'flavor to download (default: that of this processor)' },
  technology: { kind: 'list', help: 'comma-separated technologies to download (default: all)' },
  'metadata-enrichment': { kind: 'switch', help: 'write metadata for applications' },
} as const

/**
 * Runs the command and returns its exit code.
 *
 * @param args the arguments after `bootstrap`
 *
 * @example
 * process.exitCode = await bootstrap(['--input-directory=/mnt/input', '--config-directory=/mnt/config', '--metadata-enrichment'])
 */
export function bootstrap(args: readonly string[], log: Log = createLog(process.env.LOG_LEVEL)): Promise<number> {
  const usage = 'dynatrace-operator bootstrap [flags]'
  return runProgram({ usage, flags: BOOTSTRAP_FLAGS, run: (values) => prepare(values, log) }, args, log)
}

async function prepare(values: FlagValues<typeof BOOTSTRAP_FLAGS>, log: Log): Promise<void> {
  // Containers of the pod run under other users and must be able to write what is created here.
  process.umask(0)
  const { version = '', flavor = '', technology = ['all'] } = values
  const options = podOptions(values)
  if (version !== '') {
    const technologies = technology.flatMap((list) => (list === '' ? [] : list.split(',')))
    const { installAgent } = await import('./install-agent.ts')
    await installAgent(options.target, options.inputDirectory, { version, flavor, technologies }, log)
  }
  if (options.target !== '') configureAgent(options)
  if (values['metadata-enrichment'] === true) enrich(options)
}
