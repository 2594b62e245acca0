/** Reads the address of the socket. */

/**
 * The path of a Unix socket, from a URL with one, two or three slashes.
 *
 * *Errors*: for anything else; the driver serves the kubelet of its node only.
 *
 * @example
 * socketPath('unix:/csi/csi.sock') // '/csi/csi.sock'
 */
export function socketPath(endpoint: string): string {
  const url = URL.parse(endpoint)
  const path = url?.protocol === 'unix:' ? decodeURIComponent(`${url.host}${url.pathname}`) : ''
  if (path === '') throw new Error(`--endpoint: "${endpoint}" is not a Unix socket; write it as unix:///csi/csi.sock`)
  return path
}
