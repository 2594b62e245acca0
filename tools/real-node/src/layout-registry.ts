/** A registry that serves images from OCI layouts on disk, as one to which a user has pushed them. */
import { createReadStream, existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'

const INDEX = 'application/vnd.oci.image.index.v1+json'
const DIGEST = /^sha256:([0-9a-f]{64})$/

/** A running registry. */
export interface LayoutRegistry extends AsyncDisposable {
  /** Host and port, as in references of images. */
  readonly host: string
  /** The full reference of an image. */
  reference(name: string): string
}

/**
 * Serves images until it is disposed of.
 *
 * @param layouts folders of OCI layouts by the name of the image; each has one tag
 */
export async function startLayoutRegistry(
  layouts: Readonly<Record<string, string>>,
  address: string,
): Promise<LayoutRegistry> {
  const tags = new Map<string, Tag>()
  for (const [name, folder] of Object.entries(layouts)) tags.set(name, await readTag(folder))
  const server = createServer((request, response) => {
    serve(request, response, layouts, tags).catch((error: Error) => response.destroy(error))
  })
  await new Promise<void>((resolve) => server.listen(0, address, resolve))
  const listening = server.address()
  const host = `${address}:${typeof listening === 'object' && listening !== null ? listening.port : 0}`
  return {
    host,
    reference: (name) => `${host}/${name}:${tags.get(name)?.tag}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

interface Tag {
  readonly tag: string
  readonly digest: string
}

/** What is known of the one image of a layout. */
async function readTag(folder: string): Promise<Tag> {
  // Written by tools/image: the shape is known.
  const { manifests } = JSON.parse(await readFile(join(folder, 'index.json'), 'utf8')) as {
    readonly manifests: readonly { readonly digest: string; readonly annotations: Readonly<Record<string, string>> }[]
  }
  const [only] = manifests
  return { tag: only?.annotations['org.opencontainers.image.ref.name'] ?? '', digest: only?.digest ?? '' }
}

async function serve(
  { url = '', method }: IncomingMessage,
  response: ServerResponse,
  layouts: Readonly<Record<string, string>>,
  tags: ReadonlyMap<string, Tag>,
): Promise<void> {
  if (url === '/v2/') return void response.end()
  const [, name = '', kind = '', reference = ''] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/?]+)/.exec(url) ?? []
  const tag = tags.get(name)
  const digest = tag !== undefined && reference === tag.tag ? tag.digest : reference
  const [, hash] = DIGEST.exec(digest) ?? []
  const file = join(layouts[name] ?? '', 'blobs/sha256', hash ?? 'none')
  if (tag === undefined || hash === undefined || !existsSync(file)) return void response.writeHead(404).end()
  const type = kind === 'blobs' ? 'application/octet-stream' : await mediaType(file)
  response.writeHead(200, {
    'content-type': type,
    'content-length': (await stat(file)).size,
    'docker-content-digest': digest,
  })
  if (method === 'HEAD') return void response.end()
  createReadStream(file).pipe(response)
}

async function mediaType(file: string): Promise<string> {
  const { mediaType: type = INDEX } = JSON.parse(await readFile(file, 'utf8')) as { readonly mediaType?: string }
  return type
}
