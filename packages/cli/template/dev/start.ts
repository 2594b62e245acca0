/** `npm start`: the operator on an embedded cluster. `npm run dev` restarts it on each change and keeps the cluster. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, statSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startEmbeddedCluster } from '@reeve/embedded-cluster'

const kubeconfig = fileURLToPath(new URL('../kubeconfig.yaml', import.meta.url))
const program = fileURLToPath(new URL('./operator.ts', import.meta.url))
const project = fileURLToPath(new URL('..', import.meta.url))

const cluster = await startEmbeddedCluster()
await cluster.writeKubeconfig(kubeconfig)
console.log(`cluster is ready at ${cluster.url}\n\n  kubectl --kubeconfig kubeconfig.yaml get sprockets,configmaps\n`)

const isWatching = process.argv.includes('--watch')
const stop = new AbortController()
let operator: ChildProcess
// A terminal sends Ctrl-C to both.
process.on('SIGINT', () => stop.abort())
process.on('SIGTERM', () => {
  stop.abort()
  operator.kill('SIGTERM')
})
do {
  const started = files()
  operator = spawn(process.execPath, [program], {
    stdio: 'inherit',
    env: { ...process.env, KUBECONFIG: kubeconfig },
  })
  const ended = once(operator, 'close')
  if (isWatching && (await isChanged(started))) {
    console.log('restarting the operator')
    operator.kill('SIGTERM')
  }
  const [code] = await ended
  process.exitCode = code ?? 0
} while (isWatching && !stop.signal.aborted)
await cluster.stop()

/** By path, because editors that save by renaming put another file in the place of the one that was read. */
function files(): string {
  return globSync('{src,dev,samples}/**/*.*', { cwd: project })
    .map((path) => {
      const { mtimeMs = 0, size = 0, ino = 0 } = statSync(`${project}/${path}`, { throwIfNoEntry: false }) ?? {}
      return `${path} ${mtimeMs} ${size} ${ino}`
    })
    .join('\n')
}

/** Resolves once files differ from those that were started and are no longer being saved; to false on Ctrl-C. */
async function isChanged(started: string): Promise<boolean> {
  for (let last = started; !stop.signal.aborted; ) {
    await setTimeout(300, undefined, { signal: stop.signal }).catch(() => undefined)
    const now = files()
    if (now !== started && now === last) return !stop.signal.aborted
    last = now
  }
  return false
}
