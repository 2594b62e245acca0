/** The kubeconfig of a process under test. */

/** A kubeconfig for a server on this machine, in JSON, which is YAML. */
export function kubeconfigFor(port: number): string {
  const name = 'exploration'
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: { server: `http://127.0.0.1:${port}` } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: 'default' } }],
    users: [{ name, user: {} }],
  })
}
