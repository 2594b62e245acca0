/** `dynatrace-operator simulate-tenant`: a Dynatrace tenant to try an operator against. */
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { addOutputOption, append, type CommandContext, port, type Subcommand } from '@reeve/cli'
import { type Command, InvalidArgumentError } from 'commander'
import type { TenantOptions, TenantSimulator } from '../tenant/simulator/index.ts'

interface SimulateOptions {
  readonly host: string
  readonly port: number
  readonly publicHost?: readonly string[]
  readonly tenant?: readonly string[]
  readonly tokenFile?: string
  readonly agentSize: number
  readonly registryAuth: 'bearer' | 'basic' | 'none'
  readonly caFile?: string
  readonly printManifest: boolean
  readonly namespace: string
  readonly output: 'text' | 'json'
}

/** The subcommand. */
export const command: Subcommand<SimulateOptions> = { configure, run: simulate }

const UNITS: Readonly<Record<string, number>> = { '': 1, Ki: 1024, Mi: 1024 ** 2, Gi: 1024 ** 3 }

function configure(program: Command): void {
  addOutputOption(program)
    .description(
      `Runs an HTTPS server that responds like a Dynatrace tenant, until SIGTERM: tokens with scopes,
connection info, versions, settings, events, EdgeConnects, code modules to download and a registry with images. What is
created is found again; nothing outlives the process. Its page shows the calls it receives and has buttons that inject faults.`,
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on; 0 takes a free one', port, 8443)
    .option('--public-host <name>', 'host name for clients; may be repeated, the first is printed', append)
    .option('--tenant <id>', 'a tenant; may be repeated (default: abc12345)', append)
    .option('--token-file <path>', 'YAML or JSON with tokens by tenant and name (default: random tokens)')
    .option('--agent-size <size>', 'size of the code modules, such as 512Mi; up to 2Gi', size, 1024 ** 2)
    .option('--registry-auth <way>', 'bearer, basic or none', registryAuth, 'bearer')
    .option('--ca-file <path>', 'write the certificate of the authority to this file')
    .option('--print-manifest', 'print Secret, ConfigMap and DynaKube for each tenant, with the tokens in clear', false)
    .option('--namespace <name>', 'namespace in the printed manifests', 'dynatrace')
    .addHelpText(
      'after',
      `
Examples:
  dynatrace-operator simulate-tenant --print-manifest --public-host simulator.example.internal --host 0.0.0.0
  dynatrace-operator simulate-tenant --tenant abc12345 --tenant def67890 --token-file tokens.yaml
  curl --cacert ca.pem https://localhost:8443/control/faults -H 'content-type: application/json' \\
    -d '{"kind":"rate-limit","operation":"token-lookup","times":3}'`,
    )
}

async function simulate(options: SimulateOptions, context: CommandContext): Promise<number> {
  const { startTenantSimulator } = await import('../tenant/simulator/index.ts')
  const tenants = await readTenants(options)
  await using simulator = await startTenantSimulator({
    tenants,
    host: options.host,
    port: options.port,
    tls: { hosts: options.publicHost ?? [] },
    registry: { auth: options.registryAuth },
  })
  if (options.caFile !== undefined) await writeFile(options.caFile, simulator.caCertificate)
  return await context.untilSignal(async (signal) => {
    await announce(simulator, options, context)
    if (!signal.aborted) await once(signal, 'abort')
    await simulator.close()
  })
}

/** Tenants of the file first, then those that are only named. */
async function readTenants({ tenant = [], tokenFile, agentSize }: SimulateOptions): Promise<readonly TenantOptions[]> {
  const { readTokenFile } = await import('../tenant/simulator/token-file.ts')
  const fromFile = tokenFile === undefined ? [] : readTokenFile(await readFile(tokenFile, 'utf8'))
  const known = new Set(fromFile.map(({ id }) => id))
  const named = [...new Set(tenant)].filter((id) => !known.has(id)).map((id) => ({ id }))
  const all: readonly TenantOptions[] = [...fromFile, ...named]
  return (all.length === 0 ? [{ id: 'abc12345' }] : all).map((each) => ({ ...each, agentSizeBytes: agentSize }))
}

/** With manifests on standard output everything else goes to standard error, so that they can be piped on. */
async function announce(
  simulator: TenantSimulator,
  { output, printManifest, namespace, caFile }: SimulateOptions,
  { stdout, stderr }: CommandContext,
): Promise<void> {
  const { simulatorManifests } = await import('../tenant/simulator/manifests.ts')
  const tenants = simulator.tenants().map(({ id }) => ({ id, apiUrl: simulator.url(id) }))
  const manifests = printManifest
    ? tenants.flatMap(({ id }) =>
        simulatorManifests(simulator, id, {
          namespace,
          name: tenants.length === 1 ? 'simulated' : `simulated-${id.toLowerCase()}`,
        }),
      )
    : undefined
  const page = `https://${simulator.authority}/`
  if (output === 'json') {
    const { tokenUrl, registry } = simulator
    stdout.write(`${JSON.stringify({ page, tenants, tokenUrl, registry: registry.host, caFile, manifests })}\n`)
    return
  }
  if (manifests !== undefined) {
    const { default: yaml } = await import('yaml')
    stdout.write(manifests.map((object) => yaml.stringify(object)).join('---\n'))
  }
  const lines = [
    `tenant is ready, its page is ${page}`,
    ...tenants.map(({ id, apiUrl }) => `tenant ${id} has the apiUrl ${apiUrl}`),
    `registry: ${simulator.registry.host}   OAuth tokens: ${simulator.tokenUrl}`,
    ...(caFile === undefined ? [] : [`the authority to trust is in ${caFile}`]),
  ]
  const sink = printManifest ? stderr : stdout
  sink.write(`${lines.join('\n')}\n`)
}

function size(text: string): number {
  const [, number, unit = ''] = /^(\d+)(Ki|Mi|Gi)?$/.exec(text) ?? []
  const bytes = Number(number) * (UNITS[unit] ?? Number.NaN)
  if (bytes <= 2 * 1024 ** 3) return bytes
  throw new InvalidArgumentError('It must be a number of bytes, or one with Ki, Mi or Gi, up to 2Gi.')
}

function registryAuth(text: string): SimulateOptions['registryAuth'] {
  if (text === 'bearer' || text === 'basic' || text === 'none') return text
  throw new InvalidArgumentError('It must be bearer, basic or none.')
}
