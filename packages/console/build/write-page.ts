/** `node build/write-page.ts <folder>`: writes the built page, for packages and images. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { buildPage } from './build-page.ts'

const [, , path = 'dist/page'] = process.argv
const folder = resolve(path)
const files = await buildPage()
await rm(folder, { recursive: true, force: true })
await mkdir(folder, { recursive: true })
for (const [name, body] of files) await writeFile(join(folder, name), body)
