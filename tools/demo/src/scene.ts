/** A scene of the demo: one operator with a sample that becomes ready before the eyes of the audience. */
import type { ConsoleModel } from '@reeve/console'
import type { KubeClient } from '@reeve/kube'
import type { Logger } from '@reeve/runtime'
import type { NarratedKind } from './narrator.ts'

/** What a scene plays on. */
export interface SceneStage {
  readonly client: KubeClient
  readonly logger: Logger
  /** For programs that read a kubeconfig, such as helm; `undefined` means the current context. */
  readonly kubeconfigPath: string | undefined
  /** Whether pods are only simulated: images need not exist, and privileged pods are harmless. */
  readonly hasSimulatedNodes: boolean
  /** Observes the operators for the console. */
  readonly console: ConsoleModel
}

/** One scene before it is opened. */
export interface Scene {
  /** One line for the audience. */
  readonly title: string
  /** What `kubectl get` takes to show its resources, such as `webapps`. */
  readonly kubectlNames: string
  /** What to try once it is ready, as a command or a few words. */
  readonly hint: string
  /** How changes of its own kinds are shown; those of pods, workloads and services are always shown. */
  readonly kinds: readonly NarratedKind[]
  /** Why it cannot be shown here. @default it always can */
  obstacle?(stage: SceneStage): Promise<string | undefined>
  /** Installs what the operator needs, its CRDs first of all. */
  open(stage: SceneStage, signal: AbortSignal): Promise<OpenScene>
}

/** A scene whose operator can run. Disposing it releases its resources outside the cluster, after the operator's end. */
export interface OpenScene extends AsyncDisposable {
  /** Runs the operator; resolves when `signal` aborts, rejects when the operator fails. */
  run(signal: AbortSignal): Promise<void>
  /** Applies the sample and resolves when it is ready. Called while the operator runs. */
  play(signal: AbortSignal): Promise<void>
  /** More to try, with what is only known now, such as the address of a page. @default nothing */
  readonly hints?: readonly string[]
  /** How the sample stands, for the case that it did not become ready in time. */
  explain(): Promise<string>
}
