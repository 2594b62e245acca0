/** `dynatrace-operator support-archive`: collects logs, objects and a report into a ZIP archive. */
import { type CommandContext, EXIT, type Subcommand } from '@reeve/cli'
import { InvalidArgumentError, Option } from 'commander'
import { operatorNamespace } from './operator-namespace.ts'

/** The flags of the command. */
export interface SupportArchiveFlags {
  readonly stdout: boolean
  readonly file?: string
  readonly namespace?: string
  readonly managedLogs: boolean
  readonly numEvents: number
  readonly delay: number
  readonly loadsimFiles: number
  readonly loadsimFileSize: number
}

const EXAMPLES = `
Examples:
  kubectl exec -n dynatrace deploy/dynatrace-operator -- dynatrace-operator support-archive --stdout > archive.zip
  dynatrace-operator support-archive -n dynatrace --file archive.zip

Progress is on standard error, and in the archive. Exits 0 when the archive is written, even if parts could not be collected.`

const GUIDANCE = `support-archive writes a ZIP archive, which a terminal cannot show.
Redirect it into a file:
  kubectl exec -n dynatrace deploy/dynatrace-operator -- dynatrace-operator support-archive --stdout > archive.zip
or name one: support-archive --file archive.zip
`

/** The subcommand. */
export const command: Subcommand<SupportArchiveFlags> = {
  configure: (cli) =>
    void cli
      .description(
        [
          'Collects logs, objects, warnings and the report of troubleshoot into a ZIP archive, for support.',
          'Secrets are not collected, and their values are replaced in logs and objects.',
        ].join('\n'),
      )
      .option('--stdout', 'write the archive to standard output', false)
      .option('--file <path>', 'write the archive to a file, readable by its owner only')
      .option('-n, --namespace <name>', 'namespace of the operator (env: POD_NAMESPACE, else dynatrace)')
      .addOption(
        new Option('--managed-logs [boolean]', 'also logs of pods that the operator rolled out')
          .argParser(parseBoolean)
          .default(true),
      )
      .option('--num-events <number>', 'warnings to collect at most', parseCount, 300)
      .option('--delay <seconds>', 'wait before the start, for kubectl run', parseCount, 0)
      .option('--loadsim-files <number>', 'add files with random text, to try out large archives', parseCount, 0)
      .option('--loadsim-file-size <MiB>', 'size of each of these files', parseCount, 10)
      .addHelpText('after', EXAMPLES),
  run,
}

function parseBoolean(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  throw new InvalidArgumentError('use true or false')
}

function parseCount(text: string): number {
  const count = Number(text)
  if (/^\d+$/.test(text) && count <= 1_000_000) return count
  throw new InvalidArgumentError('use a whole number of at most 1000000')
}

async function run(flags: SupportArchiveFlags, { env, stderr, untilSignal }: CommandContext): Promise<number> {
  if (flags.stdout === (flags.file !== undefined)) {
    stderr.write(flags.stdout ? 'use either --stdout or --file\n' : GUIDANCE)
    return EXIT.failed
  }
  const { runSupportArchive } = await import('../support/archive/run-support-archive.ts')
  return untilSignal((signal) =>
    runSupportArchive({
      namespace: operatorNamespace(flags, env),
      managedLogs: flags.managedLogs,
      numEvents: flags.numEvents,
      loadsimFiles: flags.loadsimFiles,
      loadsimFileSizeMiB: flags.loadsimFileSize,
      delayMs: flags.delay * 1_000,
      file: flags.file,
      env,
      signal,
      progress: (line) => void stderr.write(line),
    }),
  )
}
