/** Programs are built once, and again only when their sources change. A script stands in for Go. */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BuildFailedError } from './errors.ts'
import { ensureProgram, findProgram, type GoProgram } from './go-program.ts'

let folder: string
let program: GoProgram

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-go-program-'))
  const source = join(folder, 'main.go')
  await writeFile(source, 'package main')
  program = { path: join(folder, 'cache', 'program'), sources: [source], moduleFolder: folder, package: '.' }
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** An environment where `go` is this script. */
async function goIs(script: string): Promise<NodeJS.ProcessEnv> {
  await writeFile(join(folder, 'go'), `#!/bin/sh\n${script}\n`)
  await chmod(join(folder, 'go'), 0o755)
  return { PATH: `${folder}:${process.env.PATH}` }
}

/** Creates the requested output and records it. */
const WORKING = 'while [ "$1" != -o ]; do shift; done\necho "$2" >> builds\necho program > "$2"\nchmod +x "$2"'

const builds = async () => (await readFile(join(folder, 'builds'), 'utf8')).trim().split('\n').length

describe('a program', () => {
  it('is not found before it is built', async () => {
    expect(await findProgram(program)).toBeUndefined()
  })

  it('is built once, however often it is requested', async () => {
    const env = await goIs(WORKING)
    const paths = await Promise.all([ensureProgram(program, { env }), ensureProgram(program, { env })])
    expect(paths[0]).toBe(paths[1])
    expect(await findProgram(program)).toBe(paths[0])
    expect(await builds()).toBe(1)
  })

  it('is rebuilt when its sources change', async () => {
    const env = await goIs(WORKING)
    const before = await ensureProgram(program, { env })
    await writeFile(join(folder, 'main.go'), 'package main // changed')
    expect(await findProgram(program)).toBeUndefined()
    expect(await ensureProgram(program, { env })).not.toBe(before)
    expect(await builds()).toBe(2)
  })

  it('is missing after a build that failed, and the error has the output', async () => {
    const env = await goIs('while [ "$1" != -o ]; do shift; done\necho half > "$2"\necho no such module >&2\nexit 1')
    const build = ensureProgram(program, { env })
    await expect(build).rejects.toThrow(BuildFailedError)
    await expect(build).rejects.toThrow('no such module')
    expect(await findProgram(program)).toBeUndefined()
  })
})
