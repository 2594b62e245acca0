/**
 * Writes `data/`: the descriptions of the built-in kinds for the embedded cluster.
 *
 * The source is a real control plane of the version that the real-cluster tooling pins (schemas and discovery of the
 * running server) and the protobuf definitions and Go types of its modules. Descriptions are omitted: no text of
 * Kubernetes is copied. Run it after changing the pin:
 * `node packages/embedded-cluster/scripts/generate-schema-data.ts`.
 */
import { writeFile } from 'node:fs/promises'
import { ApiClient, startRealCluster } from '@reeve/real-cluster'
import { readDiscovery } from './discovery-table.ts'
import { readGoTypes } from './go-types.ts'
import { readDefinitions } from './openapi-definitions.ts'
import { readProtobufDescriptor } from './protobuf-descriptor.ts'

const dataFolder = new URL('../data/', import.meta.url)

await using cluster = await startRealCluster({ controllers: [] })
const client = new ApiClient(cluster)
try {
  const discovery = await readDiscovery(client)
  const definitions = await readDefinitions(client)
  const protobuf = await readProtobufDescriptor(discovery, definitions)

  await write('discovery.json', [
    `"groups":[\n${lines(discovery.groups)}\n]`,
    `"resources":[\n${lines(discovery.resources)}\n]`,
  ])
  await write('openapi-definitions.json', Object.entries(definitions).map(entry))
  await write('protobuf.json', [
    `"packages":{\n${Object.entries(protobuf.packages).map(entry).join(',\n')}\n}`,
    `"messages":{\n${Object.entries(protobuf.messages).map(entry).join(',\n')}\n}`,
  ])
  await write('go-types.json', Object.entries(await readGoTypes(protobuf.messages)).map(entry))
} finally {
  await client.close()
}

async function write(name: string, members: readonly string[]): Promise<void> {
  const text = `{\n${members.join(',\n')}\n}\n`
  await writeFile(new URL(name, dataFolder), text)
  console.log(`${name}: ${Math.round(text.length / 1024)} KiB`)
}

function lines(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(',\n')
}

function entry([name, value]: [string, unknown]): string {
  return `${JSON.stringify(name)}:${JSON.stringify(value)}`
}
