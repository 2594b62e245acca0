import { expect, it } from 'vitest'
import { runProcess } from './run-process.ts'

it('the error of a process says that it was stopped, and after how long', async () => {
  const endless = runProcess(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { timeoutMs: 300 })
  await expect(endless).rejects.toThrow(/-e was stopped after 0\.3 s/)
})

it('the error of a process repeats the last lines that it printed', async () => {
  const failed = runProcess(process.execPath, ['-e', 'console.error("no space left"); process.exit(3)'])
  await expect(failed).rejects.toThrow('-e failed: no space left')
})

it('the error of a process names a program that is missing', async () => {
  await expect(runProcess('no-such-program', [])).rejects.toThrow('no-such-program is not installed')
})
