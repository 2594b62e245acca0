/** What docs/writing-an-operator.md tells a reader to type and to write. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { REPOSITORY } from '../public-packages.ts'

/** The page, taken apart. */
export interface Tutorial {
  /** Lines to type, in the order of the page. */
  readonly commands: readonly string[]
  /** Files to write, by name. */
  readonly files: ReadonlyMap<string, string>
}

/** Reads the page. Blocks without a language are commands, those with `file=` are files. */
export async function readTutorial(): Promise<Tutorial> {
  const page = await readFile(join(REPOSITORY, 'docs/writing-an-operator.md'), 'utf8')
  const blocks = [...page.matchAll(/^```([^\n]*)\n([\s\S]*?)^```$/gm)]
  const commands = blocks.flatMap(([, info = '', text = '']) =>
    // A block that begins with a prompt also shows output.
    info !== '' ? [] : text.startsWith('$ ') ? [text.slice(2).split('\n')[0] ?? ''] : text.trim().split('\n'),
  )
  const files = blocks.flatMap(([, info = '', text = '']) => {
    const [, name] = /file=(\S+)/.exec(info) ?? []
    return name === undefined ? [] : [[name, text] as const]
  })
  return { commands, files: new Map(files) }
}

/** The command of the page that begins with these words. *Errors*: when the page has no such command. */
export function commandOf({ commands }: Tutorial, beginning: string): string {
  const found = commands.find((command) => command.startsWith(beginning))
  if (found === undefined) throw new Error(`docs/writing-an-operator.md no longer tells to run "${beginning} …"`)
  return found
}
