/** `npm run generate`: writes the derived files that changed and prints their paths. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { absolutePath, generatedFiles, staleFiles } from './generated-files.ts'

const stale = new Set(await staleFiles())
for (const { path, content } of generatedFiles()) {
  if (!stale.has(path)) continue
  await mkdir(dirname(absolutePath(path)), { recursive: true })
  await writeFile(absolutePath(path), content)
  console.log(`wrote ${path}`)
}
if (stale.size === 0) console.log('everything is up to date')
