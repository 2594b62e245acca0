/** `dynatrace-operator troubleshoot`: finds out why an installation does not work, and what to do about it. */
import { type CommandContext, EXIT, type Subcommand } from '@reeve/cli'
import { InvalidArgumentError, Option } from 'commander'
import manifest from '../../package.json' with { type: 'json' }
import { DYNATRACE_TOKENS } from '../token-patterns.ts'
import { operatorNamespace } from './operator-namespace.ts'

interface TroubleshootFlags {
  readonly namespace?: string
  readonly dynakube?: string
  readonly pod?: { readonly namespace: string; readonly name: string }
  readonly output: 'text' | 'json'
}

const EXAMPLES = `
Examples:
  kubectl exec deploy/dynatrace-operator -n dynatrace -- dynatrace-operator troubleshoot
  dynatrace-operator troubleshoot -n dynatrace --dynakube production
  dynatrace-operator troubleshoot --pod shop/web-5d9c7 --output json

Exits 0 when no check fails, and 1 when one does. Warnings do not count.`

/** The subcommand. */
export const command: Subcommand<TroubleshootFlags> = {
  configure: (cli) =>
    void cli
      .description(
        [
          'Checks an installation and says what to do about each problem: leftovers of the former operator, namespace, CRDs, clocks,',
          'webhook and its certificate, CSI driver on every node, and for each DynaKube tokens, tenant, pull secret, images and proxy.',
          'Nothing is changed. Uses KUBECONFIG, the account of the pod or ~/.kube/config.',
        ].join('\n'),
      )
      .option('-n, --namespace <name>', 'namespace of the operator (env: POD_NAMESPACE, else dynatrace)')
      .option('-d, --dynakube <name>', 'check only this DynaKube')
      .option('--pod <namespace/name>', 'also explain why this pod is injected or not', parsePod)
      .addOption(new Option('-o, --output <format>', 'format of the report').choices(['text', 'json']).default('text'))
      .addHelpText('after', EXAMPLES),
  run,
}

function parsePod(text: string): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = '', ...rest] = text.split('/')
  if (namespace === '' || name === '' || rest.length > 0) {
    throw new InvalidArgumentError('write it as namespace/name, such as shop/web-5d9c7')
  }
  return { namespace, name }
}

async function run(flags: TroubleshootFlags, { env, stdout, untilSignal }: CommandContext): Promise<number> {
  const [{ redactText }, { runTroubleshoot }, { jsonReport, textReport }] = await Promise.all([
    import('@reeve/http/redact'),
    import('../support/troubleshoot/run-troubleshoot.ts'),
    import('../support/troubleshoot/findings-output.ts'),
  ])
  const redact = (text: string) => redactText(text, DYNATRACE_TOKENS)
  const namespace = operatorNamespace(flags, env)
  const { version } = manifest
  const json = flags.output === 'json' ? jsonReport(redact) : undefined
  const report = json?.report ?? textReport(stdout, redact)
  report({ check: '', status: 'info', message: `dynatrace-operator ${version}` })
  let passed = false
  const code = await untilSignal(async (signal) => {
    const { dynakube, pod } = flags
    passed = await runTroubleshoot({
      namespace,
      env,
      signal,
      report,
      ...(dynakube !== undefined && { dynakube }),
      ...(pod !== undefined && { pod }),
    })
  })
  json?.print(stdout, { version, namespace, passed })
  if (code !== EXIT.done) return code
  return passed ? EXIT.done : EXIT.failed
}
