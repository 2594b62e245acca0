/** Streams into pods by WebSocket and SPDY: exec, attach and ports. */
import { badRequest, notFound } from '../api/api-errors.ts'
import { isJsonObject, type JsonObject, objectAt } from '../json.ts'
import { StatusError } from '../status-error.ts'
import { chooseProtocol } from '../web-socket/handshake.ts'
import {
  type CommandStreams,
  type RequestedStreams,
  SPDY_PROTOCOL,
  serveCommandBySpdy,
  WEB_SOCKET_PROTOCOLS,
  webSocketStreams,
} from './command-streams.ts'
import type { WriteRequest } from './context.ts'
import { chooseContainer } from './pod-log.ts'
import { CHANNEL_PROTOCOL, forwardByChannels, forwardBySpdy, requestedPorts, TUNNEL_PROTOCOL } from './port-forward.ts'
import { isTrue } from './request-info.ts'
import type { ServerContext } from './server-context.ts'
import type { SubresourceCall, SubresourceResult } from './subresources.ts'
import { admitConnection } from './virtual-objects.ts'

/** Runs a command in a container, follows its log, or forwards ports of the pod. */
export async function streamToPod(
  context: ServerContext,
  request: WriteRequest,
  call: SubresourceCall,
): Promise<SubresourceResult> {
  const { info, name = '', namespace, subresource } = request
  await admitConnection(context, request, call.query)
  const pod = context.store.get('pods', `${namespace}/${name}`)?.object
  if (pod === undefined) throw notFound(info, name)
  const spec = objectAt(pod, 'spec')
  const container = subresource === 'portforward' ? '' : chooseContainer(name, spec, call.query.get('container') ?? '')
  if ((spec.nodeName ?? '') === '') throw badRequest(`pod ${name} does not have a host assigned`)
  const { upgrade } = call
  if (upgrade === undefined) throw badRequest('Upgrade request required')
  if (subresource === 'portforward') return forwardPorts(context, pod, name, call)
  const protocol = commandProtocol(call)
  if (subresource === 'exec' && !call.query.has('command')) throw badRequest('you must specify at least one command')
  requireRunning(name, pod, container)
  const remote = { pod, container, call, signal: request.signal }
  const run = (streams: CommandStreams) =>
    subresource === 'exec' ? execute(context, streams, remote) : follow(context, streams, remote)
  if (upgrade === 'websocket') return { protocol, session: (connection) => run(webSocketStreams(connection)) }
  const requested = requestedStreams(call.query)
  return { protocol, spdySession: (channel) => serveCommandBySpdy(channel, requested, context.clock, run) }
}

/** The version of the streams that the client and this server have in common. */
function commandProtocol({ upgrade, headers }: SubresourceCall): string {
  if (upgrade === 'websocket') {
    const protocol = chooseProtocol(headers, WEB_SOCKET_PROTOCOLS)
    if (protocol !== undefined) return protocol
    throw badRequest(`unsupported subprotocol: use one of ${WEB_SOCKET_PROTOCOLS.join(', ')}`)
  }
  if (upgrade !== 'spdy/3.1') throw badRequest(`unable to upgrade to ${upgrade}: use a WebSocket or SPDY/3.1`)
  const offered = (headers['x-stream-protocol-version'] ?? '').split(',').map((version) => version.trim())
  if (offered.includes(SPDY_PROTOCOL)) return SPDY_PROTOCOL
  const message = `unable to negotiate protocol: client supports [${offered.join(' ')}], server accepts [${SPDY_PROTOCOL}]`
  throw new StatusError(403, 'Forbidden', message)
}

function requestedStreams(query: URLSearchParams): RequestedStreams {
  const isRequested = (name: string) => isTrue(query.get(name))
  return {
    stdin: isRequested('stdin'),
    stdout: isRequested('stdout'),
    stderr: isRequested('stderr'),
    tty: isRequested('tty'),
  }
}

function forwardPorts(context: ServerContext, pod: JsonObject, name: string, call: SubresourceCall): SubresourceResult {
  if (objectAt(pod, 'status').phase !== 'Running') {
    throw badRequest(`unable to forward ports because pod ${name} is not running`)
  }
  const connect = context.podPorts(pod)
  if (connect === undefined) {
    throw unsupported(
      `pod ${name} is simulated: no process listens in it. Let it respond by HTTP with the annotation ` +
        `simulator.reeve.dev/http: '{"8080":"hello"}', or resolve its ports by the option resolvePodPort of the cluster`,
    )
  }
  if (call.upgrade === 'spdy/3.1') {
    return { protocol: 'portforward.k8s.io', spdySession: (channel) => forwardBySpdy(channel, name, connect) }
  }
  const protocol = chooseProtocol(call.headers, [TUNNEL_PROTOCOL, CHANNEL_PROTOCOL])
  if (call.upgrade !== 'websocket' || protocol === undefined) {
    throw badRequest(
      `unsupported protocol: use SPDY/3.1, or a WebSocket with ${TUNNEL_PROTOCOL} or ${CHANNEL_PROTOCOL}`,
    )
  }
  if (protocol === TUNNEL_PROTOCOL) {
    return {
      protocol,
      session: (connection) =>
        forwardBySpdy({ chunks: connection.messages(), send: (bytes) => connection.send(bytes) }, name, connect),
    }
  }
  const ports = requestedPorts(call.query)
  return { protocol, session: (connection) => forwardByChannels(connection, name, ports, connect) }
}

interface RemoteCommand {
  readonly pod: JsonObject
  readonly container: string
  readonly call: SubresourceCall
  readonly signal: AbortSignal
}

async function execute(context: ServerContext, streams: CommandStreams, remote: RemoteCommand): Promise<void> {
  const { pod, container, call } = remote
  const { query } = call
  const hasInput = isTrue(query.get('stdin'))
  const readStdin = () => (hasInput ? streams.input : Promise.resolve(''))
  const command = query.getAll('command')
  const { stdout, stderr, exitCode } = await context.podCommands(pod, { container, command, readStdin })
  const isTerminal = isTrue(query.get('tty'))
  await streams.write('stdout', stdout)
  await streams.write(isTerminal ? 'stdout' : 'stderr', stderr)
  await streams.write('error', JSON.stringify(exitStatus(exitCode)))
}

async function follow(context: ServerContext, streams: CommandStreams, remote: RemoteCommand): Promise<void> {
  const { pod, container, signal } = remote
  const abort = new AbortController()
  void streams.input.then(() => abort.abort())
  const lines = context.podLogs(pod, {
    container,
    follow: true,
    previous: false,
    tailLines: 0,
    limitBytes: undefined,
    timestamps: false,
    sinceTime: undefined,
    signal: AbortSignal.any([signal, abort.signal]),
  })
  for await (const line of lines) await streams.write('stdout', line)
  await streams.write('error', JSON.stringify(exitStatus(0)))
}

function exitStatus(exitCode: number): JsonObject {
  const common = { metadata: {}, apiVersion: 'v1', kind: 'Status' }
  if (exitCode === 0) return { ...common, status: 'Success' }
  return {
    ...common,
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${exitCode}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  }
}

function requireRunning(name: string, pod: JsonObject, container: string): void {
  const status = objectAt(pod, 'status')
  const statuses = Object.values(status).flatMap((entries) =>
    Array.isArray(entries) ? entries.filter(isJsonObject) : [],
  )
  const found = statuses.find((entry) => entry.name === container && isJsonObject(entry.state))
  if (isJsonObject(objectAt(found, 'state').running)) return
  throw new StatusError(500, 'InternalError', `container ${JSON.stringify(container)} of pod ${name} is not running`)
}

function unsupported(message: string): StatusError {
  return new StatusError(501, 'NotImplemented', message)
}
