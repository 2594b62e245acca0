/** The folder where runs leave what they found and learned; it is not under version control. */
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { filesIn } from './load-target.ts'
import type { Finding } from './run-target.ts'

/** Files of one repository. */
export class Workspace {
  readonly #root: string
  readonly #folder: string

  constructor(root: string) {
    this.#root = root
    this.#folder = join(root, '.reeve', 'fuzz')
  }

  /** What earlier runs of a target learned. */
  learned(target: string): readonly Uint8Array[] {
    return filesIn(this.#corpus(target))
  }

  /** Keeps an input that led to a new outcome; a later one with the same outcome takes its place. */
  keep(target: string, input: Uint8Array, outcome: string): void {
    const folder = this.#corpus(target)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, digest(outcome)), input)
  }

  /** Saves a finding and what is known about it; returns the path of the input, relative to the repository. */
  save(target: string, { problem, input }: Finding): string {
    const folder = join(this.#folder, 'findings')
    mkdirSync(folder, { recursive: true })
    const path = join(folder, `${target}-${problem.kind}-${digest(problem.signature).slice(0, 8)}`)
    writeFileSync(path, input)
    writeFileSync(`${path}.txt`, `${problem.kind}: ${problem.details}\n`)
    return relative(this.#root, path)
  }

  /** Keeps the slowest input of a run, for profiling. */
  keepSlowest(target: string, input: Uint8Array): void {
    const folder = join(this.#folder, 'slowest')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, target), input)
  }

  #corpus(target: string): string {
    return join(this.#folder, 'corpus', target)
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
