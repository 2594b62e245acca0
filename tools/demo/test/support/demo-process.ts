/** The demo as a child process, the way a user starts it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** What a demo printed, and how it ended. */
export interface Ended {
  readonly code: number | null
  readonly story: string
  readonly errors: string
}

/** A running demo. Disposing kills it. */
export interface DemoProcess extends AsyncDisposable {
  /** Resolves once `isReached` accepts what was printed; rejects if the demo ends before. */
  until(isReached: (story: string) => boolean): Promise<void>
  /** Resolves when the demo has exited. */
  readonly ended: Promise<Ended>
  /** What Ctrl-C does. */
  interrupt(): void
}

/**
 * Starts the demo.
 *
 * @example
 * await using demo = startDemo([], { cwd: folder })
 * await demo.until((story) => story.includes('the samples are ready'))
 */
export function startDemo(args: readonly string[], options: { readonly cwd?: string } = {}): DemoProcess {
  const { cwd = root } = options
  const child = spawn(process.execPath, [main, ...args], { cwd, env: { ...process.env, NO_COLOR: '1' } })
  let story = ''
  let errors = ''
  child.stdout.on('data', (chunk) => {
    story += String(chunk)
  })
  child.stderr.on('data', (chunk) => {
    errors += String(chunk)
  })
  const ended = exitOf(child).then((code) => ({ code, story, errors }))
  return {
    ended,
    async until(isReached) {
      while (!isReached(story)) {
        const isOver = await Promise.race([
          once(child.stdout, 'data').then(() => false),
          ended.then(() => !isReached(story)),
        ])
        if (isOver) throw new Error(`the demo ended early: ${errors}\n${story}`)
      }
    },
    interrupt: () => void child.kill('SIGINT'),
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) child.kill('SIGKILL')
      await ended
    },
  }
}

/** `subject word` of every line of the story, such as `DynaKube dynakube Running`. */
export const linesOf = (story: string): readonly string[] =>
  [...story.matchAll(/^ *\d+\.\d s {2}(\S+ \S+) +(\S+)/gm)].map(([, subject, word]) => `${subject} ${word}`)

async function exitOf(child: ChildProcess): Promise<number | null> {
  const [code] = (await once(child, 'close')) as [number | null]
  return code
}
