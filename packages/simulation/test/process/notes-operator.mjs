/**
 * A small operator without any library, as a process: a Note becomes a ConfigMap of the same name. `BROKEN` makes it wrong
 * in one way; with `ELECT` it works only while it holds a Lease.
 */
import { readFileSync } from 'node:fs'

const { server } = JSON.parse(readFileSync(process.env.KUBECONFIG, 'utf8')).clusters[0].cluster
const broken = process.env.BROKEN ?? ''
const NOTES = '/apis/example.com/v1/notes'
const MAPS = '/api/v1/configmaps'
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
const LEASE_MS = 15_000
const RENEW_MS = 10_000
const FINALIZER = 'example.com/map'
/** Variants that find their ConfigMap by its name only. */
const isOwnerless = ['no-owner', 'acts-on-events', 'guards-late'].includes(broken)
const identity = `notes-${process.pid}`
const mapsIn = (namespace) => `/api/v1/namespaces/${namespace}/configmaps`
const notes = new Map()
const maps = new Map()
let synced = 0
let hasStamped = broken !== 'stamps'
/** When the renewal of the Lease that succeeded last was sent. */
let ledAt = process.env.ELECT ? 0 : Number.POSITIVE_INFINITY
let wake = () => undefined

const keyOf = ({ metadata: { namespace, name } }) => `${namespace}/${name}`
const ownerOf = (map) => map.metadata.ownerReferences?.find(({ kind }) => kind === 'Note')
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Fails unless the server accepts the request; when it has too much to do, it says when to come back. */
async function send(method, path, body) {
  const response = await fetch(server + path, {
    method,
    headers: { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (response.ok) return response
  const retryAfter = response.headers.get('retry-after')
  const { message } = await response.json()
  if (response.status !== 429 || retryAfter === null)
    throw Object.assign(new Error(message), { status: response.status })
  await pause(1_000 * Number(retryAfter))
  return send(method, path, body)
}

const request = async (method, path, body) => (await send(method, path, body)).json()

async function watch(path, cache, resourceVersion) {
  const response = await send('GET', `${path}?watch=true&resourceVersion=${resourceVersion}`)
  let rest = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()
    for (const { type, object } of lines.map((line) => JSON.parse(line))) {
      if (type === 'ERROR' && broken === 'deaf') await pause(3_600_000)
      if (type === 'ERROR') return
      if (type === 'DELETED' && broken === 'acts-on-events' && path === NOTES)
        await removeMap(object).catch(() => undefined)
      if (type === 'DELETED') cache.delete(keyOf(object))
      else cache.set(keyOf(object), object)
      wake()
    }
  }
}

async function follow(path, cache) {
  for (let isFirst = true; ; ) {
    try {
      const list = await request('GET', path)
      cache.clear()
      for (const item of list.items) cache.set(keyOf(item), item)
      if (isFirst) synced++
      isFirst = false
      wake()
      await watch(path, cache, list.metadata.resourceVersion)
    } catch {
      await pause(broken === 'never-reconnects' && !isFirst ? 3_600_000 : 200)
    }
  }
}

const isLeading = () => (broken === 'keeps-leading' ? ledAt > 0 : Date.now() - ledAt < RENEW_MS)

/** Takes the Lease when it is free, and keeps it. */
async function lead() {
  for (;;) {
    const sentAt = Date.now()
    try {
      await hold(identity)
      ledAt = sentAt
    } catch {
      if (ledAt > 0 && !isLeading()) process.exit(1)
    }
    await pause(1_000)
  }
}

/** Fails when another instance has it. */
async function hold(holderIdentity) {
  const lease = await request('GET', `${LEASES}/notes`).catch((error) => {
    if (error.status !== 404) throw error
  })
  const spec = {
    holderIdentity,
    leaseDurationSeconds: LEASE_MS / 1_000,
    renewTime: new Date().toISOString().replace('Z', '000Z'),
  }
  if (lease === undefined) return request('POST', LEASES, { metadata: { name: 'notes' }, spec })
  const { holderIdentity: holder, renewTime } = lease.spec
  if (holder && holder !== identity && Date.now() - Date.parse(renewTime) < LEASE_MS) throw new Error('held')
  return request('PUT', `${LEASES}/notes`, { ...lease, spec })
}

function desiredFor({ metadata: { namespace, name, uid }, spec }) {
  const owner = { apiVersion: 'example.com/v1', kind: 'Note', name, uid, controller: true }
  const ownerReferences = isOwnerless ? undefined : [owner]
  const named = broken === 'generates' ? { generateName: `${name}-` } : { name }
  return { metadata: { namespace, ...named, ownerReferences }, data: { text: spec.text, ...spec.extras } }
}

async function writeStatus({ metadata: { namespace, name, generation }, status }) {
  if (status?.observedGeneration === generation) return
  const path = `/apis/example.com/v1/namespaces/${namespace}/notes/${name}/status`
  await request('PATCH', path, { status: { observedGeneration: generation } })
}

/** Whether a Note that is in view still exists: what is made for one that does not, the cluster deletes again. */
async function exists({ metadata: { namespace, name, uid } }) {
  const live = await request('GET', `/apis/example.com/v1/namespaces/${namespace}/notes/${name}`).catch((error) => {
    if (error.status !== 404) throw error
  })
  return live?.metadata.uid === uid && live.metadata.deletionTimestamp === undefined
}

async function create(desired) {
  const created = await request('POST', mapsIn(desired.metadata.namespace), desired).catch((error) => {
    // It exists already: the cache will show it.
    if (error.status !== 409) throw error
  })
  if (created && broken !== 'generates') maps.set(keyOf(created), created)
}

async function change(live, desired) {
  const data = broken === 'keeps-keys' ? { ...live.data, ...desired.data } : desired.data
  const path = `${mapsIn(live.metadata.namespace)}/${live.metadata.name}`
  const isSame = JSON.stringify(Object.entries(data).sort()) === JSON.stringify(Object.entries(live.data ?? {}).sort())
  if (isSame && broken !== 'hot') return
  if (broken === 'replaces') {
    await request('PUT', path, desired)
    return
  }
  const removed = Object.fromEntries(Object.keys(live.data ?? {}).map((key) => [key, null]))
  await request('PATCH', path, { data: { ...removed, ...data } })
}

const removeMap = ({ metadata: { namespace, name } }) => request('DELETE', `${mapsIn(namespace)}/${name}`)

async function setFinalizers({ metadata: { namespace, name } }, finalizers) {
  await request('PATCH', `/apis/example.com/v1/namespaces/${namespace}/notes/${name}`, { metadata: { finalizers } })
}

async function reconcile(note) {
  const { uid, generation, deletionTimestamp, finalizers = [] } = note.metadata
  if (deletionTimestamp && finalizers.includes(FINALIZER)) {
    await removeMap(note).catch(() => undefined)
    await setFinalizers(
      note,
      finalizers.filter((finalizer) => finalizer !== FINALIZER),
    )
  }
  if (deletionTimestamp) return
  if (broken === 'status-first') {
    if (note.status?.observedGeneration === generation) return
    await writeStatus(note)
  }
  const desired = desiredFor(note)
  const live =
    broken === 'generates' ? [...maps.values()].find((map) => ownerOf(map)?.uid === uid) : maps.get(keyOf(note))
  if (live === undefined && !(await exists(note))) return
  if (live === undefined) await create(desired)
  else if (ownerOf(live)?.uid === uid || isOwnerless) await change(live, desired)
  else if (broken === 'takes-over') await change(live, desired)
  if (broken === 'guards-late' && !finalizers.includes(FINALIZER)) await setFinalizers(note, [...finalizers, FINALIZER])
  if (!hasStamped && live !== undefined) {
    hasStamped = true
    await request('PATCH', `${mapsIn(note.metadata.namespace)}/${note.metadata.name}`, {
      metadata: { annotations: { startedAt: new Date().toISOString() } },
    })
  }
  if (broken !== 'status-first') await writeStatus(note)
}

/** Deletes what belongs to a Note that is not in view. */
async function collect() {
  for (const map of maps.values()) {
    const owner = ownerOf(map)
    if (owner && ![...notes.values()].some(({ metadata }) => metadata.uid === owner.uid))
      await request('DELETE', `${mapsIn(map.metadata.namespace)}/${map.metadata.name}`).catch(() => undefined)
  }
}

follow(NOTES, notes)
follow(MAPS, maps)
if (process.env.ELECT) lead()
process.on('SIGTERM', async () => {
  if (broken === 'stubborn') return
  // Another instance may start at once.
  if (ledAt > 0 && process.env.ELECT) await hold('').catch(() => undefined)
  process.exit(0)
})
for (;;) {
  await new Promise((resolve) => {
    wake = resolve
    setTimeout(resolve, broken === 'hot' ? 200 : process.env.ELECT ? 500 : 10_000)
  })
  await pause(20)
  if (synced < 2 || !isLeading()) continue
  if (broken === 'collects') await collect()
  for (const note of [...notes.values()]) {
    try {
      if (broken === 'forgets') notes.delete(keyOf(note))
      await reconcile(note)
    } catch (error) {
      console.error(`reconcile ${keyOf(note)}: ${error.message}`)
      setTimeout(() => wake(), 300)
    }
  }
}
