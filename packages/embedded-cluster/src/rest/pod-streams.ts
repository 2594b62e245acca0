/** Streams into pods: exec and attach by WebSocket, ports also by SPDY. */
import { badRequest, notFound } from '../api/api-errors.ts'
import { isJsonObject, type JsonObject, objectAt } from '../json.ts'
import { StatusError } from '../status-error.ts'
import type { WebSocketConnection } from '../web-socket/connection.ts'
import { chooseProtocol, type WebSocketSession } from '../web-socket/handshake.ts'
import type { WriteRequest } from './context.ts'
import { chooseContainer } from './pod-log.ts'
import { CHANNEL_PROTOCOL, forwardByChannels, forwardBySpdy, requestedPorts, TUNNEL_PROTOCOL } from './port-forward.ts'
import { isTrue } from './request-info.ts'
import type { ServerContext } from './server-context.ts'
import type { SubresourceCall, SubresourceResult } from './subresources.ts'
import { admitConnection } from './virtual-objects.ts'

/** In the order of preference of a client that offers several. */
const PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io']
const CHANNELS = { stdin: 0, stdout: 1, stderr: 2, error: 3, close: 255 } as const
/** `cat` without arguments repeats at most this much. */
const MAX_STDIN_BYTES = 1024 * 1024

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
  if (upgrade !== 'websocket') {
    throw unsupported(
      `the embedded cluster serves ${subresource} by WebSocket, not by ${upgrade}: use kubectl 1.31 or later, ` +
        'without KUBECTL_REMOTE_COMMAND_WEBSOCKETS=false',
    )
  }
  const protocol = chooseProtocol(call.headers, PROTOCOLS)
  if (protocol === undefined) throw badRequest(`unsupported subprotocol: use one of ${PROTOCOLS.join(', ')}`)
  const command = call.query.getAll('command')
  if (subresource === 'exec' && command.length === 0) throw badRequest('you must specify at least one command')
  requireRunning(name, pod, container)
  const session: WebSocketSession = (connection) =>
    subresource === 'exec'
      ? execute(context, connection, { pod, container, command, query: call.query })
      : follow(context, connection, { pod, container, signal: request.signal })
  return { protocol, session }
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

interface Execution {
  readonly pod: JsonObject
  readonly container: string
  readonly command: readonly string[]
  readonly query: URLSearchParams
}

async function execute(context: ServerContext, connection: WebSocketConnection, execution: Execution): Promise<void> {
  const { pod, container, command, query } = execution
  const input = readInput(connection)
  const hasInput = isTrue(query.get('stdin'))
  const readStdin = () => (hasInput ? input : Promise.resolve(''))
  const { stdout, stderr, exitCode } = await context.podCommands(pod, { container, command, readStdin })
  const isTerminal = isTrue(query.get('tty'))
  await write(connection, CHANNELS.stdout, stdout)
  await write(connection, isTerminal ? CHANNELS.stdout : CHANNELS.stderr, stderr)
  await write(connection, CHANNELS.error, JSON.stringify(exitStatus(exitCode)))
}

/** Reads until the client closes its standard input (`v5`), or the connection. Also answers pings meanwhile. */
async function readInput(connection: WebSocketConnection): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  const { promise, resolve } = Promise.withResolvers<string>()
  const finish = () => resolve(Buffer.concat(chunks).toString())
  const read = async () => {
    for await (const message of connection.messages()) {
      if (message[0] === CHANNELS.close && message[1] === CHANNELS.stdin) finish()
      if (message[0] !== CHANNELS.stdin) continue
      size += message.length - 1
      if (size <= MAX_STDIN_BYTES) chunks.push(message.subarray(1))
    }
  }
  // A lost connection ends the input like a closed one.
  read().then(finish, finish)
  return promise
}

async function follow(
  context: ServerContext,
  connection: WebSocketConnection,
  { pod, container, signal }: { pod: JsonObject; container: string; signal: AbortSignal },
): Promise<void> {
  const abort = new AbortController()
  void readInput(connection).then(() => abort.abort())
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
  for await (const line of lines) await write(connection, CHANNELS.stdout, line)
  await write(connection, CHANNELS.error, JSON.stringify(exitStatus(0)))
}

async function write(connection: WebSocketConnection, channel: number, text: string): Promise<void> {
  if (text !== '') await connection.send(Buffer.concat([Buffer.from([channel]), Buffer.from(text)]))
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
