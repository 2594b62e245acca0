/** `webapp-operator crd`: what has to be installed before WebApps can be created. */
import { EXIT, type Subcommand } from '@reeve/cli'

const EXAMPLES = `
Examples:
  webapp-operator crd | kubectl apply -f -`

/** The subcommand. */
export const command: Subcommand<Record<string, never>> = {
  configure: (cli) => void cli.addHelpText('after', EXAMPLES),
  run: async (_options, { stdout }) => {
    const [{ crdYaml }, { WebAppCrd }] = await Promise.all([import('@reeve/crd'), import('../api/webapp.ts')])
    stdout.write(crdYaml(WebAppCrd))
    return EXIT.done
  },
}
