/** Connects to the cluster and writes the archive to a file or to standard output. */
import type { Writable } from 'node:stream'
import { ZipWriter } from '@reeve/archives/zip-writer'
import { sleep } from '@reeve/http'
import { connect, type DiscoveringClient, isConnectionError, isUnauthorized, Pods } from '@reeve/kube'
import manifest from '../../../package.json' with { type: 'json' }
import { MODULES_VARIABLE, parseModules } from '../../api/validation/modules.ts'
import { formatFinding } from '../troubleshoot/findings-output.ts'
import { runTroubleshoot } from '../troubleshoot/run-troubleshoot.ts'
import { writeArchiveFile } from './archive-file.ts'
import { ArchiveConsole } from './console.ts'
import type { ArchiveOptions } from './context.ts'
import { type Redact, redactionFor, redactPatterns } from './redaction.ts'
import { writeSupportArchive } from './support-archive.ts'

const APP_NAME = 'dynatrace-operator'
const NAME_LABEL = 'app.kubernetes.io/name'

/** What a run depends on. */
export interface SupportArchiveRun extends ArchiveOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly delayMs: number
  /** @default standard output */
  readonly file: string | undefined
  readonly signal: AbortSignal
  readonly progress: (line: string) => void
}

/**
 * Writes an archive of the cluster of the process environment. A file appears when it is complete.
 *
 * *Errors*: those of `loadConfig` and of the output, an API server that cannot be reached or rejects the credentials at the
 * beginning, and the reason of the signal.
 */
export async function runSupportArchive(run: SupportArchiveRun): Promise<void> {
  const { env, file, signal } = run
  await sleep(run.delayMs, { signal })
  const client = await connect({ env, userAgent: `dynatrace-support-archive/${manifest.version}` })
  try {
    if (file === undefined) await write(run, client, process.stdout)
    else await writeArchiveFile(file, signal, (output, either) => write({ ...run, signal: either }, client, output))
  } finally {
    await client.close()
  }
}

async function write(run: SupportArchiveRun, client: DiscoveringClient, output: Writable): Promise<void> {
  const { env, namespace, signal, progress } = run
  let redact: Redact = redactPatterns
  const console = new ArchiveConsole(progress, () => redact)
  console.note(`dynatrace-operator ${manifest.version}, namespace ${namespace}`)
  try {
    redact = await redactionFor(client, namespace, signal)
  } catch (error) {
    signal.throwIfAborted()
    // Nothing could be collected: an archive would only hide the reason.
    if (isConnectionError(error) || isUnauthorized(error)) throw error
    const cause = error instanceof Error ? error.message : String(error)
    console.note(`Secrets cannot be read, so only what looks like a secret is replaced: ${cause}`)
  }
  const known = redact
  await writeSupportArchive({
    ...run,
    client,
    console,
    redact: known,
    zip: new ZipWriter(output),
    modules: parseModules(env[MODULES_VARIABLE]),
    appName: await appName(client, run),
    operatorVersion: manifest.version,
    troubleshoot: async (writeText) => {
      await runTroubleshoot({ namespace, env, signal, report: (finding) => writeText(formatFinding(finding, false)) })
    },
  })
}

/** That of the process's own pod: the chart may have been released under another name. */
async function appName(client: DiscoveringClient, { env, namespace, signal }: SupportArchiveRun): Promise<string> {
  const name = env.POD_NAME
  if (!name) return APP_NAME
  try {
    const pod = await client.get(Pods, { namespace, name }, { signal, timeoutMs: 10_000 })
    return pod.metadata.labels?.[NAME_LABEL] ?? ''
  } catch {
    // As without POD_NAME: outside of a pod the usual name is right.
    signal.throwIfAborted()
    return APP_NAME
  }
}
