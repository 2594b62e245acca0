/**
 * Writes `test/golden/built-in-kinds/`: the responses of a real control plane to the cases of
 * `test/built-in-kinds/cases`. Run it after adding cases or changing the pinned version:
 * `node packages/embedded-cluster/scripts/record-built-in-kinds.ts`.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { RawClient } from '@reeve/cluster-under-test'
import { startRealCluster } from '@reeve/real-cluster'
import { suites } from '../test/built-in-kinds/cases/index.ts'
import { awaitServiceAccount, perform, type RecordedResponse } from '../test/built-in-kinds/recorded-case.ts'

const folder = new URL('../test/golden/built-in-kinds/', import.meta.url)
const namespace = 'recording'

await using cluster = await startRealCluster()
const raw = new RawClient(cluster)
try {
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
  await raw.send({ method: 'POST', path: '/api/v1/namespaces', body })
  await awaitServiceAccount(raw, namespace)
  await mkdir(folder, { recursive: true })
  for (const [file, cases] of Object.entries(suites)) {
    const records: Record<string, RecordedResponse> = {}
    for (const recorded of cases) {
      if (records[recorded.name] !== undefined) throw new Error(`two cases have the name ${recorded.name}`)
      records[recorded.name] = await perform(raw, namespace, recorded)
    }
    await write(`${file}.json`, records)
  }
} finally {
  await raw.close()
}

/** One record per line, for readable diffs. */
async function write(name: string, records: Readonly<Record<string, RecordedResponse>>): Promise<void> {
  const lines = Object.entries(records).map((entry) => `${JSON.stringify(entry[0])}:${JSON.stringify(entry[1])}`)
  const text = `{\n${lines.join(',\n')}\n}\n`
  const url = new URL(name, folder)
  const before = await readFile(url, 'utf8').catch(() => '')
  await writeFile(url, text)
  console.log(`${name}: ${lines.length} records${before === text ? '' : ', changed'}`)
}
