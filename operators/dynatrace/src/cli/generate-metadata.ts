/** `dynatrace-operator generate-metadata`: writes what a node is part of into a file that agents read. */
import { EXIT, type Subcommand } from '@reeve/cli'

interface MetadataOptions {
  readonly file: string
  readonly attributes: string
}

const EXAMPLES = `
Examples:
  dynatrace-operator generate-metadata --file /var/lib/dynatrace/enrichment/dt_node_metadata.properties \\
    --attributes k8s.cluster.name=shop,k8s.node.name=worker-1`

/** The subcommand. */
export const command: Subcommand<MetadataOptions> = {
  configure: (cli) =>
    void cli
      .description(
        `Writes attributes into a file, one per line, for agents to read without access to any API. Runs as an init
container of the agents. A file that is there is replaced as a whole.`,
      )
      .requiredOption('--file <path>', 'file to write; directories that are missing are made')
      .requiredOption('--attributes <list>', 'key=value, separated by commas; a value may hold = but no comma')
      .addHelpText('after', EXAMPLES),
  run: async ({ file, attributes }) => {
    const [{ attributeLines }, { writePublicFile }] = await Promise.all([
      import('./metadata-attributes.ts'),
      import('./public-file.ts'),
    ])
    await writePublicFile(file, attributeLines(attributes))
    return EXIT.done
  },
}
