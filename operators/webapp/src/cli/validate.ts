/** `webapp-operator validate`: validates files as the webhook would, for CI pipelines and editors. */
import { addFileOption, addOutputOption, type FileOptions, type OutputOptions, type Subcommand } from '@reeve/cli'

const EXAMPLES = `
Examples:
  webapp-operator validate -f webapp.yaml
  kubectl get webapps -A -o yaml | webapp-operator validate -f -
  webapp-operator validate -f deploy/*.yaml -o json | jq '.findings[] | select(.severity == "error")'

Exits 1 if anything would be rejected; warnings alone give 0.`

/** The subcommand. */
export const command: Subcommand<FileOptions & OutputOptions> = {
  configure: (cli) => void addOutputOption(addFileOption(cli)).addHelpText('after', EXAMPLES),
  run: async ({ filename, output }, { readStdin, stdout }) => {
    const [{ printReview, readManifests, reviewKind }, { WebApps }, { validateWebApp }, { completeWebApp }] =
      await Promise.all([
        import('@reeve/cli/manifests'),
        import('../api/webapp.ts'),
        import('../validate-webapp.ts'),
        import('../webhooks/admit-webapp.ts'),
      ])
    const manifests = await readManifests(filename, readStdin)
    const review = reviewKind(manifests, WebApps, (webapp) => validateWebApp(completeWebApp(webapp)))
    return printReview(review, output, stdout)
  },
}
