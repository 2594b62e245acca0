/** How soon the embedded cluster is ready, and how fast its watches are, beside a real control plane in turns. */
import { measureBriefly } from '../embedded-measurements.ts'
import { type MeasuredServer, startEmbedded, startReal } from '../embedded-servers.ts'
import type { Result } from '../result.ts'
import { median, spread } from './spread.ts'

/** Watchers, and changes that each of them has to see. */
const LOAD = { watchers: 50, changes: 200 } as const

interface Round {
  readonly startMs: number
  readonly eventsPerSecond: number
}

/** Starts both in turns; the first start of the embedded cluster compiles it and does not count. */
export async function embeddedRounds(rounds: number): Promise<readonly Result[]> {
  await play(startEmbedded)
  const embedded: Round[] = []
  const real: Round[] = []
  for (let round = 1; round <= rounds; round++) {
    console.error(`round ${round} of ${rounds}: API servers`)
    real.push(await play(startControlPlane))
    embedded.push(await play(startEmbedded))
  }
  const starts = [embedded, real].map((side) => side.map(({ startMs }) => startMs / 1_000)) as [number[], number[]]
  const events = [embedded, real].map((side) => side.map(({ eventsPerSecond }) => eventsPerSecond)) as typeof starts
  const result = (name: string, [ours, theirs]: typeof starts, digits: number, unit: string, note: string): Result => ({
    name: `embedded cluster: ${name}`,
    figure: spread(ours, digits, unit),
    beside: `${spread(theirs, digits, unit)} kube-apiserver and etcd`,
    ratio: median(ours) / median(theirs),
    note,
  })
  return [
    result('start to ready', starts, 2, 's', 'lower is better; target: 0.1 or less'),
    result(`events to ${LOAD.watchers} watchers`, events, 0, '/s', 'higher is better; target: 1.0 or more'),
  ]
}

async function startControlPlane(): Promise<MeasuredServer> {
  const server = await startReal()
  if ('missing' in server) throw new Error(server.missing)
  return server
}

async function play(start: () => Promise<MeasuredServer>): Promise<Round> {
  await using server = await start()
  return { startMs: server.startMs, eventsPerSecond: await measureBriefly(server, LOAD) }
}
