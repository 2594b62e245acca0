/** Logs of the operator's pods and of those it rolled out, and files of extension controllers. */
import { isBadRequest, type Pod, Pods, type Stored } from '@reeve/kube'
import { type ArchiveContext, type Collector, LOG_TIMEOUT_MS, MAX_LOG_BYTES, REQUEST_TIMEOUT_MS } from './context.ts'
import { redactedLog } from './log-lines.ts'

const SUPPORTABILITY =
  'logs are not collected: the module supportability was disabled at install time; enable rbac.supportability of the chart'
const EXTENSION_CONTROLLER = 'dynatrace-extension-controller'
const EXTENSION_CONTAINER = 'extension-controller'
const EXTENSION_LOGS = '/var/lib/dynatrace/remotepluginmodule/log/extensions'
const MAX_FILE_BYTES = 8 * 1024 * 1024
const MAX_FILES = 1_000

/** `logs/<pod>/<container>.log`, and of the run before a restart. */
export const podLogs: Collector = {
  name: 'pod logs',
  async collect(context) {
    if (!context.modules.supportability) return context.console.note(SUPPORTABILITY)
    for (const pod of await podsOf(context)) {
      for (const { name } of pod.spec?.containers ?? []) await collectLogs(context, pod, name)
    }
  },
}

/** Files of extension controllers, found by running `ls` and `cat` in them. */
export const extensionFiles: Collector = {
  name: 'files of extension controllers',
  async collect(context) {
    if (!context.managedLogs) return
    if (!context.modules.supportability) return context.console.note(SUPPORTABILITY)
    const { namespace, appName } = context
    const selector = `app.kubernetes.io/name=${EXTENSION_CONTROLLER},app.kubernetes.io/managed-by=${appName}`
    for (const pod of await listPods(context, selector)) {
      try {
        await collectFiles(context, pod.metadata.name)
      } catch (error) {
        context.signal.throwIfAborted()
        context.console.failed(`files of the pod ${namespace}/${pod.metadata.name}`, error)
      }
    }
  },
}

async function podsOf(context: ArchiveContext): Promise<readonly Stored<Pod>[]> {
  const { appName, managedLogs } = context
  const own = await listPods(context, `app.kubernetes.io/name=${appName}`)
  const managed = managedLogs ? await listPods(context, `app.kubernetes.io/managed-by=${appName}`) : []
  const names = new Set(own.map(({ metadata }) => metadata.name))
  return [...own, ...managed.filter(({ metadata }) => !names.has(metadata.name))]
}

async function listPods(
  { client, namespace, signal }: ArchiveContext,
  labelSelector: string,
): Promise<readonly Stored<Pod>[]> {
  return (await client.listAll(Pods, { namespace, labelSelector, signal, timeoutMs: REQUEST_TIMEOUT_MS })).items
}

async function collectLogs(context: ArchiveContext, pod: Stored<Pod>, container: string): Promise<void> {
  const { name } = pod.metadata
  const status = pod.status?.containerStatuses?.find((one) => one.name === container)
  await collectLog(context, name, container, false)
  if ((status?.restartCount ?? 0) > 0) await collectLog(context, name, container, true)
}

async function collectLog(context: ArchiveContext, pod: string, container: string, previous: boolean): Promise<void> {
  const { client, namespace, console, redact, signal, zip } = context
  const path = `logs/${pod}/${container}${previous ? '_previous' : ''}.log`
  const log = client.logs(
    { namespace, name: pod },
    { container, previous, limitBytes: MAX_LOG_BYTES, timeoutMs: LOG_TIMEOUT_MS, signal },
  )
  let isBegun = false
  try {
    // An entry is begun once there is something to write: the server may have no such log.
    const lines = redactedLog(log, redact)[Symbol.asyncIterator]()
    const first = await lines.next()
    isBegun = true
    await zip.add(path, rest(first, lines))
    console.note(`collected ${path}`)
  } catch (error) {
    signal.throwIfAborted()
    if (previous && isBadRequest(error)) return
    // The pod may be deleted, or its node lost, while its log is read.
    if (isBegun) console.cutOff(path, error)
    else console.failed(path, error)
  }
}

async function* rest(first: IteratorResult<string>, lines: AsyncIterator<string>): AsyncGenerator<string> {
  for (let line = first; !line.done; line = await lines.next()) yield line.value
}

async function collectFiles(context: ArchiveContext, pod: string): Promise<void> {
  const { console, redact, zip } = context
  const listing = await run(context, pod, ['/usr/bin/sh', '-c', `ls -R1 '${EXTENSION_LOGS}'`])
  if (listing === undefined) return console.note(`the pod ${pod} has no logs of extensions`)
  await zip.add(`logs/${pod}/ls.txt`, [redact(listing)])
  const files = logFiles(listing)
  if (files.length > MAX_FILES) console.note(`only ${MAX_FILES} of ${files.length} files of ${pod} are collected`)
  for (const file of files.slice(0, MAX_FILES)) {
    const content = await run(context, pod, ['/usr/bin/sh', '-c', `cat '${file}'`])
    if (content === undefined) continue
    await zip.add(`logs/${pod}${file}`, [redact(content)])
    console.note(`collected logs/${pod}${file}`)
  }
}

/** What a command prints; `undefined` if it fails. */
async function run(
  { client, namespace, signal }: ArchiveContext,
  name: string,
  command: readonly string[],
): Promise<string | undefined> {
  const { exitCode, stdout } = await client.exec(
    { namespace, name },
    { container: EXTENSION_CONTAINER, command, maxOutputBytes: MAX_FILE_BYTES, timeoutMs: LOG_TIMEOUT_MS, signal },
  )
  return exitCode === 0 ? Buffer.from(stdout).toString() : undefined
}

/** The `*.log` files of a listing of `ls -R1`: folders end with a colon, names follow. */
function logFiles(listing: string): readonly string[] {
  let folder = EXTENSION_LOGS
  return listing.split('\n').flatMap((line) => {
    if (/^\/.*:$/.test(line)) folder = line.slice(0, -1)
    // Nothing outside the folder, and nothing that a shell would understand, is read or becomes a path of the archive.
    const isFile = /^[\w.@+-]+\.log$/.test(line) && folder.startsWith(EXTENSION_LOGS) && !/\.\.|[^\w./@+-]/.test(folder)
    return isFile ? [`${folder}/${line}`] : []
  })
}
