/** `collector-operator crd`: prints the CustomResourceDefinition of Collectors. */
import { EXIT, type Subcommand } from '@reeve/cli'

const EXAMPLES = `
Examples:
  collector-operator crd | kubectl apply -f -`

/** The subcommand. */
export const command: Subcommand<Record<string, never>> = {
  configure: (cli) => void cli.addHelpText('after', EXAMPLES),
  run: async (_options, { stdout }) => {
    const [{ crdYaml }, { CollectorCrd }] = await Promise.all([import('@reeve/crd'), import('../api/collector.ts')])
    stdout.write(crdYaml(CollectorCrd))
    return EXIT.done
  },
}
