/** `npm run picture`: runs the demo and draws what it prints, for the README. */
import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { storyExcerpt } from './story-excerpt.ts'
import { terminalPicture } from './terminal-picture.ts'

const DEMO = fileURLToPath(new URL('../main.ts', import.meta.url))
const PICTURE = fileURLToPath(new URL('../../../../docs/demo.svg', import.meta.url))
const COMMAND = '\u001b[2m$\u001b[0m npm ci && npm start'

const demo = spawn(process.execPath, [DEMO, '--once', '--timeout', '300'], {
  env: { ...process.env, FORCE_COLOR: '1' },
  stdio: ['ignore', 'pipe', 'inherit'],
})
const output = await text(demo.stdout)
await writeFile(PICTURE, terminalPicture([COMMAND, '', ...storyExcerpt(output)], 'Output of npm start'))
console.log('wrote docs/demo.svg')
