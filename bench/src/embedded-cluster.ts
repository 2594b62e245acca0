/** The embedded cluster beside a real kube-apiserver with etcd, one after the other in the same run. */
import { type Measurements, measure, type Workload } from './embedded-measurements.ts'
import { startEmbedded, startReal } from './embedded-servers.ts'
import type { Result } from './result.ts'

interface Row {
  readonly name: string
  readonly note: string
  readonly value: (measurements: Measurements) => number
  readonly format: (value: number) => string
}

const SMALLER = 'lower is better'
const GREATER = 'higher is better'

/** One result for each figure. */
export async function embeddedCluster(workload: Workload): Promise<readonly Result[]> {
  const embedded = await measureEmbedded(workload)
  const real = await measureReal(workload)
  return rows(workload).map(({ name, note, value, format }) => {
    const figure = format(value(embedded))
    if ('missing' in real) return { name, figure, beside: real.missing, ratio: Number.NaN, note }
    return {
      name,
      figure,
      beside: `${format(value(real))} for kube-apiserver and etcd`,
      ratio: value(embedded) / value(real),
      note,
    }
  })
}

async function measureEmbedded(workload: Workload): Promise<Measurements> {
  await using server = await startEmbedded()
  return await measure(server, workload, (line) => console.error(`  embedded cluster: ${line}`))
}

async function measureReal(workload: Workload): Promise<Measurements | { readonly missing: string }> {
  const server = await startReal()
  if ('missing' in server) return server
  await using running = server
  return await measure(running, workload, (line) => console.error(`  kube-apiserver: ${line}`))
}

function rows({ pods, objects, watchers, changes }: Workload): readonly Row[] {
  const milliseconds = (value: number) => `${value.toFixed(0)} ms`
  const perSecond = (value: number) => `${value.toFixed(0)}/s`
  return [
    { name: 'start to ready', note: SMALLER, value: ({ startMs }) => startMs, format: milliseconds },
    {
      name: `create ${pods} pods`,
      note: GREATER,
      value: ({ createsPerSecond }) => createsPerSecond,
      format: perSecond,
    },
    { name: `list ${pods} pods`, note: SMALLER, value: ({ listMs }) => listMs, format: milliseconds },
    {
      name: `${changes} changes to ${watchers} watchers`,
      note: `${GREATER}; events delivered`,
      value: ({ eventsPerSecond }) => eventsPerSecond,
      format: perSecond,
    },
    {
      name: `memory with ${objects} objects`,
      note: SMALLER,
      value: ({ memoryMiB }) => memoryMiB,
      format: (value) => `${value.toFixed(0)} MiB`,
    },
  ]
}
