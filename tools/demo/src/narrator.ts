/** Prints what happens in the cluster, one line per change that a user would notice. */
import { sleep } from '@reeve/http'
import { isRetryable, type KubeClient, type KubeObject, type Resource, type Stored } from '@reeve/kube'
import { type Colour, type Screen, storyLine } from './terminal.ts'

/** How the changes of a kind are shown. */
export interface NarratedKind {
  readonly resource: Resource<Narrated>
  /** What there is to say about an object; `undefined` says nothing. Said again only when it changes. */
  describe(object: Stored<Narrated>): Sentence | undefined
}

/** What is said about an object: how it stands, and why. */
export interface Sentence {
  readonly word: string
  readonly colour: Colour
  readonly detail: string
}

/** The few fields that the story needs of any kind. */
export interface Narrated extends KubeObject {
  readonly spec?: { readonly replicas?: number; readonly image?: string }
  readonly status?: {
    readonly phase?: string
    readonly availableReplicas?: number
    readonly desiredNumberScheduled?: number
    readonly numberAvailable?: number
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[]
  }
}

/** Between a lost watch and the next one. */
const RETRY_MS = 500

const COLOURS: Readonly<Record<string, Colour>> = {
  Ready: 'green',
  Running: 'green',
  Degraded: 'red',
  Error: 'red',
  Deleting: 'yellow',
}

/** The colour of a phase. */
export const colourOf = (phase: string): Colour => COLOURS[phase] ?? 'cyan'

/**
 * Writes a line for every change of these kinds until `signal` aborts. A lost watch is resumed.
 *
 * @param elapsedMs how long the story has been going on
 *
 * @example
 * const telling = narrate(client, screen, COMMON_KINDS, () => performance.now() - start, signal)
 */
export async function narrate(
  client: KubeClient,
  screen: Screen,
  kinds: readonly NarratedKind[],
  elapsedMs: () => number,
  signal: AbortSignal,
): Promise<void> {
  const say = (kind: NarratedKind, object: Stored<Narrated>, sentence: Sentence) => {
    const subject = `${kind.resource.kind} ${object.metadata.name}`
    screen.write(storyLine(screen, elapsedMs() / 1_000, subject, sentence, sentence.detail))
  }
  await Promise.all(kinds.map((kind) => follow(client, kind, say, signal)))
}

async function follow(
  client: KubeClient,
  kind: NarratedKind,
  say: (kind: NarratedKind, object: Stored<Narrated>, sentence: Sentence) => void,
  signal: AbortSignal,
): Promise<void> {
  const said = new Map<string, string>()
  while (!signal.aborted) {
    try {
      for await (const event of client.watch(kind.resource, { signal, timeoutSeconds: 200 })) {
        if (event.type === 'BOOKMARK') continue
        const { uid } = event.object.metadata
        if (event.type === 'DELETED') {
          if (said.delete(uid)) say(kind, event.object, { word: 'gone', colour: 'dim', detail: '' })
          continue
        }
        const sentence = kind.describe(event.object)
        const text = JSON.stringify(sentence)
        if (sentence === undefined || said.get(uid) === text) continue
        said.set(uid, text)
        say(kind, event.object, sentence)
      }
    } catch (error) {
      if (signal.aborted) return
      if (!isRetryable(error)) throw error
      // Continues as soon as the server is back; changes meanwhile are shown from the new state.
      await sleep(RETRY_MS, { signal })
    }
  }
}
