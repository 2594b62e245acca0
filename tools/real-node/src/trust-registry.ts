/** Configures how containerd reaches a registry. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Writes the `hosts.toml` of a registry, which containerd reads with every pull.
 *
 * @param url scheme, host and port
 * @param authority certificate of the authority that signed that of the registry
 */
export async function trustRegistry(registries: string, url: string, authority?: string): Promise<void> {
  const folder = join(registries, new URL(url).host)
  await mkdir(folder, { recursive: true })
  const lines = [`server = "${url}"`, '', `[host."${url}"]`, '  capabilities = ["pull", "resolve"]']
  if (authority !== undefined) {
    await writeFile(join(folder, 'ca.crt'), authority)
    lines.push(`  ca = "${join(folder, 'ca.crt')}"`)
  }
  await writeFile(join(folder, 'hosts.toml'), `${lines.join('\n')}\n`)
}
