/** The commands of a page of the documentation, run as a reader would run them. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { delimiter, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { BRIEF_CLIENT, findClientBinary } from './find-client-binary.ts'

/** Readers run commands in the root of the repository. */
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** Runs one command line by bash, with the real kubectl and helm; resolves with its standard output. */
export type CommandShell = (command: string) => Promise<string>

/**
 * The lines of the code block that follows the comment `<!-- marker -->`. A line that ends in a backslash goes on.
 *
 * *Errors*: if the page has no such block, so that a test cannot pass without commands.
 *
 * @example
 * const [install, ...rest] = await documentedCommands('docs/webapp.md', 'install')
 */
export async function documentedCommands(page: string, marker: string): Promise<readonly string[]> {
  const text = await readFile(`${ROOT}/${page}`, 'utf8')
  const [, block] = new RegExp(`<!-- ${marker} -->\\n\`\`\`\\n(.*?)\`\`\``, 's').exec(text) ?? []
  if (block === undefined) throw new Error(`${page} has no code block below <!-- ${marker} -->`)
  return block.replaceAll('\\\n', '').trim().split('\n')
}

/**
 * A shell with kubectl and helm for one cluster; `undefined` where this machine lacks one of them.
 *
 * @example
 * const shell = await openCommandShell({ KUBECONFIG: cluster.kubeconfigPath })
 * await shell?.('kubectl get nodes')
 */
export async function openCommandShell(env: Readonly<Record<string, string>>): Promise<CommandShell | undefined> {
  const clients = [await findClientBinary('helm'), await findClientBinary('kubectl')]
  const folders = clients.flatMap((path) => (path === undefined ? [] : [dirname(path)]))
  if (folders.length < clients.length) return undefined
  const PATH = [...folders, process.env.PATH].join(delimiter)
  return async (command) => {
    const options = { cwd: ROOT, env: { ...process.env, ...BRIEF_CLIENT, ...env, PATH } }
    return (await promisify(execFile)('bash', ['-c', command], options)).stdout
  }
}
