/** A registry on loopback that has the packed packages, and sends readers elsewhere for everything else. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'
import type { PackedPackage } from '../pack.ts'

/** A registry that listens. */
export interface LocalRegistry extends AsyncDisposable {
  readonly url: string
}

/**
 * Starts it.
 *
 * @param upstream address of the registry that has the other packages
 *
 * @example
 * await using registry = await startRegistry(await packPackages(packages, folder), 'https://registry.example.com/')
 */
export async function startRegistry(packages: readonly PackedPackage[], upstream: string): Promise<LocalRegistry> {
  const byName = new Map(packages.map((one) => [one.name, one]))
  const byFile = new Map(packages.map((one) => [basename(one.archive), one]))
  let url = ''
  const respond = async (path: string, response: ServerResponse) => {
    const file = byFile.get(basename(path))
    const known = byName.get(decodeURIComponent(path.slice(1)))
    if (path.startsWith('/archives/') && file !== undefined) {
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(await readFile(file.archive))
    } else if (known !== undefined) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(await describe(known, url)))
    } else {
      response.writeHead(307, { location: new URL(path.slice(1), upstream).href }).end()
    }
  }
  const server = createServer((request, response) => {
    respond(request.url ?? '/', response).catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A server that listens on TCP has such an address.
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The document of a package with one version. */
async function describe({ name, folder, archive }: PackedPackage, url: string): Promise<object> {
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { readonly version: string }
  const integrity = `sha512-${createHash('sha512')
    .update(await readFile(archive))
    .digest('base64')}`
  const dist = { tarball: `${url}archives/${basename(archive)}`, integrity }
  const { version } = manifest
  return { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } }
}
