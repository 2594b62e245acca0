/** `dynatrace-operator bootstrap` in the help of the command line; see `main.ts` for how it runs. */
import type { Subcommand } from '@reeve/cli'
import { BOOTSTRAP_FLAGS } from '../bootstrapper/bootstrap.ts'
import { describeFlags } from '../bootstrapper/flags.ts'

const EXAMPLES = `
Examples:
  dynatrace-operator bootstrap --config-directory=/mnt/config --input-directory=/mnt/input --metadata-enrichment \\
    '--attribute-container={"k8s.container.name":"app"}' --attribute=k8s.pod.name=web-0
  dynatrace-operator bootstrap --config-directory=/mnt/config --input-directory=/mnt/input --target=/mnt/bin \\
    --version=1.318.0.20250609-191530 '--attribute-container={"k8s.container.name":"app"}'`

/** The subcommand. */
export const command: Subcommand<never> = {
  configure: (cli) =>
    void cli
      .description(
        `Prepares a pod as its init container: downloads the agent with --version, configures it with --target, and writes
metadata for applications with --metadata-enrichment. The webhook renders its arguments. Unknown flags are ignored.`,
      )
      .addHelpText('after', `\nFlags:\n${describeFlags(BOOTSTRAP_FLAGS)}${EXAMPLES}`),
  run: () => Promise.reject(new Error('bootstrap must be the first argument')),
}
