/** The namespace of the operator, for tools that people run. */

const DEFAULT_NAMESPACE = 'dynatrace'

/** That of the option, of the process's own pod, or the one of the documentation. */
export function operatorNamespace(
  { namespace }: { readonly namespace?: string },
  { POD_NAMESPACE }: Readonly<Record<string, string | undefined>>,
): string {
  return namespace || POD_NAMESPACE || DEFAULT_NAMESPACE
}
