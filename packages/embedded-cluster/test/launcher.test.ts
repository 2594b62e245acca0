import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const launcher = fileURLToPath(new URL('../bin/reeve-cluster.js', import.meta.url))

function run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr })
    })
  })
}

test('an older Node prints the required version', async () => {
  const older = 'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.1.0" } })'
  const outcome = await run('--import', `data:text/javascript,${encodeURIComponent(older)}`, launcher)
  expect(outcome).toEqual({ code: 78, stdout: '', stderr: 'reeve-cluster needs Node 24.0 or newer; this is 20.1.0\n' })
})

test('help is printed without starting anything', async () => {
  expect(await run(launcher, '--help')).toMatchObject({ code: 0, stdout: expect.stringContaining('--data-dir') })
})

test('an invalid command line prints the correct usage', async () => {
  const outcome = await run(launcher, '--port', 'http')
  expect(outcome).toMatchObject({ code: 64, stderr: expect.stringMatching(/--port must be an integer.*not "http"/) })
})
