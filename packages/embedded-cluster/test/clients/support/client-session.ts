/** Runs command-line tools on the cluster under test, in their own namespace and home folder. */
import { execFile, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BRIEF_CLIENT } from '@reeve/client-binaries'
import { type ClusterUnderTest, type OpenOptions, openCluster } from '@reeve/cluster-under-test'
import { parse, stringify } from 'yaml'

/** The output and exit code of a command. */
export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** A command that keeps running, such as `kubectl get -w`. */
export interface Following extends AsyncDisposable {
  /** Its output so far. */
  readonly output: string
  /** What it printed to standard error so far. */
  readonly errors: string
}

interface Kubeconfig {
  readonly contexts: { readonly context: { namespace?: string } }[]
}

/** Commands see neither the machine's kubeconfig nor the caches of other tests. */
export class ClientSession implements AsyncDisposable {
  readonly cluster: ClusterUnderTest
  /** The default namespace of commands. */
  readonly namespace: string
  /** The working directory of commands. */
  readonly folder: string

  private constructor(cluster: ClusterUnderTest, namespace: string, folder: string) {
    this.cluster = cluster
    this.namespace = namespace
    this.folder = folder
  }

  static async open(options: OpenOptions = {}): Promise<ClientSession> {
    const cluster = await openCluster(options)
    const namespace = await cluster.createNamespace()
    const folder = await mkdtemp(join(tmpdir(), 'reeve-clients-'))
    const config = parse(await readFile(cluster.kubeconfigPath, 'utf8')) as Kubeconfig
    for (const { context } of config.contexts) context.namespace = namespace
    await writeFile(join(folder, 'kubeconfig'), stringify(config), { mode: 0o600 })
    return new ClientSession(cluster, namespace, folder)
  }

  get kubeconfigPath(): string {
    return join(this.folder, 'kubeconfig')
  }

  /** The result, whether it succeeded or not. */
  attempt(
    binary: string,
    args: readonly string[],
    input = '',
    env: Readonly<Record<string, string>> = {},
  ): Promise<Outcome> {
    const options = this.#processOptions()
    return new Promise((resolve) => {
      const child = execFile(
        binary,
        [...args],
        { ...options, env: { ...options.env, ...env } },
        (error, stdout, stderr) => {
          resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr })
        },
      )
      child.stdin?.end(input)
    })
  }

  /** The output of the command; throws with its error output when it fails. */
  async run(
    binary: string,
    args: readonly string[],
    input = '',
    env: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const { code, stdout, stderr } = await this.attempt(binary, args, input, env)
    if (code !== 0) throw new Error(`${binary} ${args.join(' ')} exited with ${code}: ${stderr}${stdout}`)
    return stdout
  }

  /** Starts a command that runs until it is disposed. */
  follow(binary: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Following {
    const options = this.#processOptions()
    const child = spawn(binary, [...args], {
      ...options,
      env: { ...options.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ended = new Promise((resolve) => child.once('close', resolve))
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
    })
    let errors = ''
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      errors += chunk
    })
    return {
      get errors() {
        return errors
      },
      get output() {
        return output
      },
      async [Symbol.asyncDispose]() {
        child.kill('SIGKILL')
        await ended
      },
    }
  }

  async close(): Promise<void> {
    await this.cluster.close()
    await rm(this.folder, { recursive: true, force: true })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #processOptions() {
    return {
      env: {
        KUBECONFIG: this.kubeconfigPath,
        HELM_NAMESPACE: this.namespace,
        HOME: this.folder,
        PATH: process.env.PATH ?? '',
        ...BRIEF_CLIENT,
      },
      cwd: this.folder,
    }
  }
}
