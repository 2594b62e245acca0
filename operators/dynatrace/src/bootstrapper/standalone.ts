/**
 * `dynatrace-bootstrapper`: the entry point of an image of code modules. As the init container of a pod it copies the
 * agent out of its image and configures it; as a Job of the CSI driver it only copies.
 */
import manifest from '../../package.json' with { type: 'json' }
import { configureAgent } from './configure-agent.ts'
import { copyAgent } from './copy-agent.ts'
import { linkInstalledVersion } from './current-link.ts'
import { enrich } from './enrich.ts'
import { createLog, type Log } from './log.ts'
import { POD_FLAGS, podOptions } from './pod-options.ts'
import { runProgram } from './run-program.ts'

const FLAGS = {
  ...POD_FLAGS,
  source: { kind: 'text', help: 'directory of the agent in this image' },
  work: { kind: 'text', help: 'scratch directory on the file system of --target: the target then appears as a whole' },
  technology: { kind: 'text', help: 'comma-separated technologies to copy (default: all)' },
  debug: { kind: 'switch', help: 'log more' },
} as const

/**
 * Runs the program and returns its exit code.
 *
 * @example
 * process.exitCode = await standalone(['--source=/opt/dynatrace/oneagent', '--target=/mnt/bin'])
 */
export async function standalone(args: readonly string[], log: Log = defaultLog(args)): Promise<number> {
  if (args.some((arg) => arg === '-v' || arg === '--version')) {
    process.stdout.write(`${manifest.version}\n`)
    return 0
  }
  const usage = 'dynatrace-bootstrapper --source <directory> --target <directory> [flags]'
  return runProgram(
    {
      usage,
      flags: FLAGS,
      required: ['source', 'target'],
      run: async (values) => {
        const options = podOptions(values)
        const { source = '', work = '', technology = '' } = values
        await copyAgent({ source, target: options.target, work, technology }, log)
        await linkInstalledVersion(options.target)
        configureAgent(options)
        enrich(options)
      },
    },
    args,
    log,
  )
}

function defaultLog(args: readonly string[]): Log {
  return createLog(args.some((arg) => /^--debug(=true)?$/.test(arg)) ? 'debug' : process.env.LOG_LEVEL)
}
