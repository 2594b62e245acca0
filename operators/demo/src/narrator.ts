/** Tells what happens in the cluster, one line per change that a person would notice. */
import { isRetryable, type KubeClient, type KubeObject, type Resource, resource, type Stored, sleep } from '@reeve/kube'
import { type Colour, type Screen, storyLine } from './terminal.ts'

/** How a kind is told. */
interface Told {
  readonly resource: Resource<Narrated>
  /** What there is to say about an object; `undefined` says nothing. Said again only when it changes. */
  tell(object: Stored<Narrated>): Sentence | undefined
}

interface Sentence {
  readonly word: string
  readonly colour: Colour
  readonly detail: string
}

/** The few fields that the story needs of any kind. */
interface Narrated extends KubeObject {
  readonly spec?: { readonly replicas?: number; readonly image?: string }
  readonly status?: {
    readonly phase?: string
    readonly availableReplicas?: number
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[]
  }
}

/** Between a lost watch and the next one. */
const RETRY_MS = 500

const COLOURS: Readonly<Record<string, Colour>> = {
  Ready: 'green',
  Degraded: 'red',
  Deleting: 'yellow',
  Running: 'green',
}

const TOLD: readonly Told[] = [
  {
    resource: resource<Narrated>({
      group: 'example.com',
      version: 'v1',
      kind: 'WebApp',
      plural: 'webapps',
      namespaced: true,
    }),
    tell({ spec, status }) {
      const word = status?.phase ?? 'Created'
      const message = status?.conditions?.find(
        ({ type, status: value }) => type !== 'Available' && value === 'True',
      )?.message
      const numbers = `${status?.availableReplicas ?? 0} of ${spec?.replicas ?? 1} available`
      return { word, colour: COLOURS[word] ?? 'cyan', detail: message ?? numbers }
    },
  },
  {
    resource: resource<Narrated>({
      group: 'apps',
      version: 'v1',
      kind: 'Deployment',
      plural: 'deployments',
      namespaced: true,
    }),
    tell: ({ spec, status }) => ({
      word: status?.availableReplicas === spec?.replicas ? 'available' : 'waiting',
      colour: status?.availableReplicas === spec?.replicas ? 'green' : 'yellow',
      detail: `${status?.availableReplicas ?? 0} of ${spec?.replicas ?? 1} pods available`,
    }),
  },
  {
    resource: resource<Narrated>({ group: '', version: 'v1', kind: 'Service', plural: 'services', namespaced: true }),
    tell: ({ metadata }) =>
      metadata.name === 'kubernetes' ? undefined : { word: 'created', colour: 'green', detail: '' },
  },
  {
    resource: resource<Narrated>({ group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true }),
    tell({ status }) {
      const isReady = status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True')
      return {
        word: isReady ? 'ready' : (status?.phase ?? 'Pending').toLowerCase(),
        colour: isReady ? 'green' : 'yellow',
        detail: '',
      }
    },
  },
]

/**
 * Writes a line for every change until `signal` aborts. A lost watch is taken up again.
 *
 * @example
 * const telling = narrate(client, screen, { signal })
 */
export async function narrate(
  client: KubeClient,
  screen: Screen,
  options: { readonly signal: AbortSignal; readonly now?: () => number },
): Promise<void> {
  const { signal, now = () => performance.now() } = options
  const start = now()
  const say = (told: Told, object: Stored<Narrated>, sentence: Sentence) => {
    const subject = `${told.resource.kind} ${object.metadata.name}`
    screen.write(storyLine(screen, (now() - start) / 1_000, subject, sentence, sentence.detail))
  }
  await Promise.all(TOLD.map((told) => follow(client, told, say, signal)))
}

async function follow(
  client: KubeClient,
  told: Told,
  say: (told: Told, object: Stored<Narrated>, sentence: Sentence) => void,
  signal: AbortSignal,
): Promise<void> {
  const said = new Map<string, string>()
  while (!signal.aborted) {
    try {
      for await (const event of client.watch(told.resource, { signal, timeoutSeconds: 200 })) {
        if (event.type === 'BOOKMARK') continue
        const { uid } = event.object.metadata
        if (event.type === 'DELETED') {
          if (said.delete(uid)) say(told, event.object, { word: 'gone', colour: 'dim', detail: '' })
          continue
        }
        const sentence = told.tell(event.object)
        const text = JSON.stringify(sentence)
        if (sentence === undefined || said.get(uid) === text) continue
        said.set(uid, text)
        say(told, event.object, sentence)
      }
    } catch (error) {
      if (signal.aborted) return
      if (!isRetryable(error)) throw error
      // The story goes on as soon as the server is back; what happened meanwhile is told from the new state.
      await sleep(RETRY_MS, { signal })
    }
  }
}
