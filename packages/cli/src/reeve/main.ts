/** `reeve`: explores operators, runs embedded clusters, prints what follows from an operator, and starts projects. */
import { readFile } from 'node:fs/promises'
import { runCommandLine } from '../command-line.ts'
import { EXIT, type SubcommandEntry } from '../subcommand.ts'
import { operatorCommand } from './operator-module.ts'

/** Commands of other packages, which read their own arguments. Each returns the exit code. */
const DELEGATED: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  explore: async (args) => (await loadSimulation()).exploreCommand(args),
  cluster: async (args) => (await import('@reeve/embedded-cluster/command')).clusterCommand(args),
}

/** Only listed: they never get as far as being loaded. */
const delegated = (name: string, summary: string): SubcommandEntry => ({
  name,
  summary,
  load: () => Promise.reject(new Error(`${name} reads its own arguments`)),
})

const SUBCOMMANDS: readonly SubcommandEntry[] = [
  { name: 'init', summary: 'create the project of an operator', load: () => import('./init-command.ts') },
  delegated('explore', 'run operators under every fault that is known to break them'),
  delegated('cluster', 'run an embedded cluster until it is stopped'),
  {
    name: 'crd',
    summary: 'print the CustomResourceDefinitions of an operator',
    load: async () => ({ command: await operatorCommand('crd') }),
  },
  {
    name: 'rbac',
    summary: 'print the account and the roles that an operator needs',
    load: async () => ({ command: await operatorCommand('rbac') }),
  },
]

const EXAMPLES = [
  'reeve init                                  asks for group and kind, and writes a project',
  'reeve cluster --kubeconfig kubeconfig.yaml  a Kubernetes API for development and tests',
  'reeve explore --quick                       the operators of this project, for a minute',
  'reeve crd | kubectl apply -f -              install the CRDs of the operator of this project',
]

/** `@reeve/simulation` is a dependency of development: production images do without it. */
async function loadSimulation() {
  try {
    return await import('@reeve/simulation/command')
  } catch (error) {
    const { code } = error as { readonly code?: unknown }
    if (code !== 'ERR_MODULE_NOT_FOUND' || !String(error).includes("'@reeve/simulation'")) throw error
    throw new Error('reeve explore needs @reeve/simulation: npm install --save-dev @reeve/simulation', { cause: error })
  }
}

async function main(args: readonly string[]): Promise<number> {
  // `reeve help cluster` is `reeve cluster --help`.
  const [first, ...rest] = args[0] === 'help' && args[1] !== undefined ? [args[1], '--help'] : args
  if (first !== undefined && Object.hasOwn(DELEGATED, first)) return DELEGATED[first]?.(rest) ?? EXIT.failed
  const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
  return runCommandLine(
    {
      name: 'reeve',
      description: 'Kubernetes operators in TypeScript.',
      version,
      examples: EXAMPLES,
      subcommands: SUBCOMMANDS,
    },
    // Without arguments people want to know what there is.
    ['node', 'reeve', ...(first === undefined ? ['--help'] : [first, ...rest])],
  )
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`reeve: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = EXIT.failed
}
