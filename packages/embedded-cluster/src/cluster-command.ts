/** @module `reeve cluster`: runs an embedded cluster until it is stopped. */
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import type { EmbeddedClusterOptions } from './cluster-options.ts'

const USAGE = `Usage: reeve cluster [options]

Starts a Kubernetes API server with simulated nodes and workloads.

  --port <number>           port to listen on (default: an unused one)
  --host <address>          address to listen on (default: 127.0.0.1)
  --kubeconfig <path>       path of the kubeconfig to write (default: ./reeve-cluster.kubeconfig)
  --data-dir <path>         store the cluster's state in this directory
  --nodes <number>          simulated nodes (default: 3)
  --authorization <mode>    RBAC or AlwaysAllow (default: RBAC)
  --anonymous-auth          accept requests without credentials, as system:anonymous
  --no-controllers          run only the API server, without controllers
  --version                 show the version
  --help                    show this text

Examples:
  reeve cluster
  reeve cluster --port 6443 --kubeconfig ~/.kube/reeve --data-dir ~/reeve-data
  reeve cluster --nodes 100 --authorization AlwaysAllow

Exit codes: 0 stopped by a signal, 1 failed to start, 64 invalid command line.
`

/** An invalid command line. */
class UsageError extends Error {
  readonly code = 'USAGE'
}

/** Options of the cluster, and the path of its kubeconfig; or what to print instead. */
function readArguments(
  args: readonly string[],
): { readonly options: EmbeddedClusterOptions; readonly kubeconfig: string } | 'help' | 'version' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      port: { type: 'string' },
      host: { type: 'string' },
      kubeconfig: { type: 'string', default: 'reeve-cluster.kubeconfig' },
      'data-dir': { type: 'string' },
      nodes: { type: 'string' },
      authorization: { type: 'string', default: 'RBAC' },
      'anonymous-auth': { type: 'boolean', default: false },
      'no-controllers': { type: 'boolean', default: false },
      version: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  if (values.version) return 'version'
  const { authorization } = values
  if (authorization !== 'AlwaysAllow' && authorization !== 'RBAC') {
    throw new UsageError(`--authorization must be RBAC or AlwaysAllow, not ${JSON.stringify(authorization)}`)
  }
  return {
    kubeconfig: values.kubeconfig,
    options: {
      authorization,
      anonymousAuth: values['anonymous-auth'],
      onWarning: (message) => process.stderr.write(`WARNING: ${message}\n`),
      controllers: !values['no-controllers'],
      ...(values.port === undefined ? {} : { port: number('--port', values.port, 65_535) }),
      ...(values.nodes === undefined ? {} : { nodes: number('--nodes', values.nodes, 5_000) }),
      ...(values.host === undefined ? {} : { host: values.host }),
      ...(values['data-dir'] === undefined ? {} : { dataDir: values['data-dir'] }),
    },
  }
}

function number(name: string, text: string, max: number): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 0 || value > max) {
    throw new UsageError(`${name} must be an integer from 0 to ${max}, not ${JSON.stringify(text)}`)
  }
  return value
}

async function version(): Promise<string> {
  return JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')).version
}

/**
 * Runs a cluster until SIGINT or SIGTERM, and returns the exit code.
 *
 * @example
 * process.exitCode = await clusterCommand(['--port', '6443'])
 */
export async function clusterCommand(args: readonly string[]): Promise<number> {
  try {
    return await run(args)
  } catch (error) {
    const isUsage = error instanceof Error && 'code' in error && /^(USAGE|ERR_PARSE_ARGS)/.test(String(error.code))
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${isUsage ? `\n${USAGE}` : ''}`)
    return isUsage ? 64 : 1
  }
}

async function run(args: readonly string[]): Promise<number> {
  const read = readArguments(args)
  if (read === 'help' || read === 'version') {
    process.stdout.write(read === 'help' ? USAGE : `${await version()}\n`)
    return 0
  }
  // Imported lazily: help and invalid options need no cluster.
  const { startEmbeddedCluster } = await import('./cluster.ts')
  const cluster = await startEmbeddedCluster(read.options)
  const stopped = Promise.withResolvers<void>()
  // Installed before readiness is printed, because the reader may stop it then.
  process.once('SIGINT', stopped.resolve)
  process.once('SIGTERM', stopped.resolve)
  try {
    await cluster.writeKubeconfig(read.kubeconfig)
    process.stdout.write(
      `cluster is ready at ${cluster.url}\n\n  kubectl --kubeconfig ${read.kubeconfig} get nodes\n\n`,
    )
    await stopped.promise
  } finally {
    await cluster.stop()
  }
  // Connections of clients that are still open must not delay the end.
  process.exit(0)
}
