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
let wake = () => undefined

const keyOf = ({ metadata: { namespace, name } }) => `${namespace}/${name}`

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

async function follow(path, cache) {
  for (;;) {
    try {
      const list = await request('GET', `${path}${broken === 'any-age' ? '?resourceVersion=0' : ''}`)
      cache.clear()
      for (const item of list.items) cache.set(keyOf(item), item)
      wake()
      const query = `watch=true&resourceVersion=${list.metadata.resourceVersion}&allowWatchBookmarks=true`
      const response = await fetch(`${server}${path}?${query}`)
      let rest = ''
      for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
        const lines = (rest + chunk).split('\n')
        rest = lines.pop()
        for (const { type, object } of lines.map((line) => JSON.parse(line))) {
          if (type === 'ERROR') throw new Error(object.message)
          if (type === 'DELETED') cache.delete(keyOf(object))
          else if (type !== 'BOOKMARK') cache.set(keyOf(object), object)
          wake()
        }
      }
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
}

function owned(note) {
  const { namespace, name, uid } = note.metadata
  const owner = { apiVersion: 'example.com/v1', kind: 'Note', name, uid, controller: true }
  return {
    metadata: { namespace, name, ...(broken === 'no-owner' ? {} : { ownerReferences: [owner] }) },
    data: { text: note.spec.text, ...note.spec.extras },
  }
}

async function reconcile(note) {
  const { namespace, name, uid, generation, deletionTimestamp } = note.metadata
  if (deletionTimestamp) return
  const desired = owned(note)
  const live = maps.get(keyOf(note))
  if (live === undefined) {
    const created = await request('POST', mapsIn(namespace), desired).catch((error) => {
      if (error.status !== 409) throw error
    })
    if (created) maps.set(keyOf(created), created)
    // Nothing would try again.
    if (broken === 'status-first' && note.status?.observedGeneration === generation) return
  } else if (live.metadata.ownerReferences?.[0]?.uid !== uid && broken !== 'no-owner') {
    if (broken !== 'takes-over') return
    maps.set(keyOf(note), await request('PUT', `${mapsIn(namespace)}/${name}`, desired))
  } else {
    const merged = broken === 'keeps-keys' ? { ...live.data, ...desired.data } : desired.data
    if (JSON.stringify(merged) !== JSON.stringify(live.data) || broken === 'hot') {
      const data = { ...Object.fromEntries(Object.keys(live.data ?? {}).map((key) => [key, null])), ...merged }
      maps.set(keyOf(note), await request('PATCH', `${mapsIn(namespace)}/${name}`, { data }))
    }
  }
  if (note.status?.observedGeneration !== generation)
    await request('PATCH', `${NOTES.replace('/notes', `/namespaces/${namespace}/notes`)}/${name}/status`, {
      status: { observedGeneration: generation },
    })
}

follow(NOTES, notes)
follow(MAPS, maps)
process.on('SIGTERM', () => process.exit(0))
for (;;) {
  await new Promise((resolve) => {
    wake = resolve
    setTimeout(resolve, broken === 'hot' ? 200 : 10_000)
  })
  await new Promise((resolve) => setTimeout(resolve, 20))
  for (const note of notes.values()) {
    try {
      if (broken === 'forgets') notes.delete(keyOf(note))
      await reconcile(note)
    } catch (error) {
      if (broken === 'gives-up') continue
      console.error(`reconcile ${keyOf(note)}: ${error.message}`)
      setTimeout(() => wake(), 500)
    }
  }
}
