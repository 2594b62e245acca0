/** A program that runs one input in the way its argument says, under a watchdog that saves it in the given file. */
import { Watchdog } from '../watchdog.ts'

const [behaviour = '', findingFile = ''] = process.argv.slice(2)
await using watchdog = new Watchdog(findingFile, behaviour === 'hoard' ? {} : { hangMs: 300 })
watchdog.starts(Buffer.from(behaviour), 0)
if (behaviour === 'hang') spend(Number.POSITIVE_INFINITY)
if (behaviour === 'hoard') hoard()
watchdog.ends()
// What comes after an input is nobody's fault.
spend(1_000)

function spend(cpuMs: number): void {
  const before = process.threadCpuUsage()
  let spentMs = 0
  while (spentMs < cpuMs) {
    const { user, system } = process.threadCpuUsage(before)
    spentMs = (user + system) / 1_000
  }
}

function hoard(): never {
  const kept: unknown[] = []
  for (;;) kept.push(new Array(1_000_000).fill(kept.length))
}
