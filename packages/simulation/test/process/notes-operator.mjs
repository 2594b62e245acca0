/**
 * A small operator without any library, as a process: a Note becomes a ConfigMap of the same name. `BROKEN` makes it wrong
 * in one way.
 */
import { readFileSync } from 'node:fs'

const { server } = JSON.parse(readFileSync(process.env.KUBECONFIG, 'utf8')).clusters[0].cluster
const broken = process.env.BROKEN ?? ''
const NOTES = '/apis/example.com/v1/notes'
const MAPS = '/api/v1/configmaps'
const mapsIn = (namespace) => `/api/v1/namespaces/${namespace}/configmaps`
const notes = new Map()
const maps = new Map()
let synced = 0
let wake = () => undefined

const keyOf = ({ metadata: { namespace, name } }) => `${namespace}/${name}`
const ownerOf = (map) => map.metadata.ownerReferences?.find(({ kind }) => kind === 'Note')
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

async function request(method, path, body) {
  const response = await fetch(server + path, {
    method,
    headers: { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const result = await response.json()
  if (response.ok) return result
  throw Object.assign(new Error(result.message), { status: response.status })
}

async function watch(path, cache, resourceVersion) {
  const response = await fetch(`${server}${path}?watch=true&resourceVersion=${resourceVersion}`)
  let rest = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()
    for (const { type, object } of lines.map((line) => JSON.parse(line))) {
      if (type === 'ERROR' && broken === 'deaf') await pause(3_600_000)
      if (type === 'ERROR') return
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
      await pause(200)
    }
  }
}

function desiredFor({ metadata: { namespace, name, uid }, spec }) {
  const owner = { apiVersion: 'example.com/v1', kind: 'Note', name, uid, controller: true }
  const ownerReferences = broken === 'no-owner' ? undefined : [owner]
  const named = broken === 'generates' ? { generateName: `${name}-` } : { name }
  return { metadata: { namespace, ...named, ownerReferences }, data: { text: spec.text, ...spec.extras } }
}

async function writeStatus({ metadata: { namespace, name, generation }, status }) {
  if (status?.observedGeneration === generation) return
  const path = `/apis/example.com/v1/namespaces/${namespace}/notes/${name}/status`
  await request('PATCH', path, { status: { observedGeneration: generation } })
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

async function reconcile(note) {
  const { uid, generation, deletionTimestamp } = note.metadata
  if (deletionTimestamp) return
  if (broken === 'status-first') {
    if (note.status?.observedGeneration === generation) return
    await writeStatus(note)
  }
  const desired = desiredFor(note)
  const live =
    broken === 'generates' ? [...maps.values()].find((map) => ownerOf(map)?.uid === uid) : maps.get(keyOf(note))
  if (live === undefined) await create(desired)
  else if (ownerOf(live)?.uid === uid || broken === 'no-owner') await change(live, desired)
  else if (broken === 'takes-over') await change(live, desired)
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
process.on('SIGTERM', () => {
  if (broken !== 'stubborn') process.exit(0)
})
for (;;) {
  await new Promise((resolve) => {
    wake = resolve
    setTimeout(resolve, broken === 'hot' ? 200 : 10_000)
  })
  await pause(20)
  if (synced < 2) continue
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
