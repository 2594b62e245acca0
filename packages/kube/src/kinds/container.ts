/** Containers of a pod. */

/** A number or a string such as `http` or `25%`. */
export type IntOrString = number | string

/** Amounts by resource name, such as `{ cpu: '100m', memory: '64Mi' }`. */
export type ResourceList = Readonly<Record<string, string>>

/** Requests and limits of a container. */
export interface ResourceRequirements {
  readonly requests?: ResourceList
  readonly limits?: ResourceList
  readonly claims?: readonly { readonly name: string; readonly request?: string }[]
}

/** A port that a container listens on. */
export interface ContainerPort {
  readonly containerPort: number
  readonly name?: string
  readonly protocol?: 'TCP' | 'UDP' | 'SCTP'
  readonly hostPort?: number
  readonly hostIP?: string
}

/** A key of a ConfigMap or Secret of the same namespace. */
export interface KeySelector {
  readonly name: string
  readonly key: string
  readonly optional?: boolean
}

/** A field of the pod itself. */
export interface ObjectFieldSelector {
  readonly fieldPath: string
  readonly apiVersion?: string
}

/** A resource limit or request of a container. */
export interface ResourceFieldSelector {
  readonly resource: string
  readonly containerName?: string
  readonly divisor?: string
}

/** The source of an environment variable's value. */
export interface EnvVarSource {
  readonly configMapKeyRef?: KeySelector
  readonly secretKeyRef?: KeySelector
  readonly fieldRef?: ObjectFieldSelector
  readonly resourceFieldRef?: ResourceFieldSelector
}

/** One environment variable: `value` or `valueFrom`. */
export interface EnvVar {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: EnvVarSource
}

/** All keys of a ConfigMap or Secret as environment variables. */
export interface EnvFromSource {
  readonly prefix?: string
  readonly configMapRef?: { readonly name: string; readonly optional?: boolean }
  readonly secretRef?: { readonly name: string; readonly optional?: boolean }
}

/** The mount of a volume in a container. */
export interface VolumeMount {
  readonly name: string
  readonly mountPath: string
  readonly readOnly?: boolean
  readonly recursiveReadOnly?: string
  readonly subPath?: string
  readonly subPathExpr?: string
  readonly mountPropagation?: 'None' | 'HostToContainer' | 'Bidirectional'
}

/** An HTTP request of a probe or a lifecycle hook. */
export interface HttpGetAction {
  readonly path?: string
  readonly port: IntOrString
  readonly host?: string
  readonly scheme?: 'HTTP' | 'HTTPS'
  readonly httpHeaders?: readonly { readonly name: string; readonly value: string }[]
}

/** The action of a lifecycle hook. */
export interface LifecycleHandler {
  readonly exec?: { readonly command?: readonly string[] }
  readonly httpGet?: HttpGetAction
  readonly sleep?: { readonly seconds: number }
}

/** A liveness, readiness or startup probe. */
export interface Probe {
  readonly exec?: { readonly command?: readonly string[] }
  readonly httpGet?: HttpGetAction
  readonly tcpSocket?: { readonly port: IntOrString; readonly host?: string }
  readonly grpc?: { readonly port: number; readonly service?: string }
  readonly initialDelaySeconds?: number
  readonly periodSeconds?: number
  readonly timeoutSeconds?: number
  readonly successThreshold?: number
  readonly failureThreshold?: number
  readonly terminationGracePeriodSeconds?: number
}

/** SELinux labels of a process. */
export interface SeLinuxOptions {
  readonly user?: string
  readonly role?: string
  readonly type?: string
  readonly level?: string
}

/** A seccomp or AppArmor profile. */
export interface SecurityProfile {
  readonly type: 'RuntimeDefault' | 'Unconfined' | 'Localhost'
  readonly localhostProfile?: string
}

/** Privileges of one container; takes precedence over the pod's. */
export interface SecurityContext {
  readonly runAsUser?: number
  readonly runAsGroup?: number
  readonly runAsNonRoot?: boolean
  readonly privileged?: boolean
  readonly allowPrivilegeEscalation?: boolean
  readonly readOnlyRootFilesystem?: boolean
  readonly procMount?: string
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] }
  readonly seLinuxOptions?: SeLinuxOptions
  readonly seccompProfile?: SecurityProfile
  readonly appArmorProfile?: SecurityProfile
}

/** One container of a pod. */
export interface Container {
  readonly name: string
  readonly image?: string
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never'
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly workingDir?: string
  readonly ports?: readonly ContainerPort[]
  readonly env?: readonly EnvVar[]
  readonly envFrom?: readonly EnvFromSource[]
  readonly resources?: ResourceRequirements
  readonly resizePolicy?: readonly { readonly resourceName: string; readonly restartPolicy: string }[]
  /** `Always` on an init container makes it a sidecar. */
  readonly restartPolicy?: string
  readonly volumeMounts?: readonly VolumeMount[]
  readonly volumeDevices?: readonly { readonly name: string; readonly devicePath: string }[]
  readonly livenessProbe?: Probe
  readonly readinessProbe?: Probe
  readonly startupProbe?: Probe
  readonly lifecycle?: {
    readonly postStart?: LifecycleHandler
    readonly preStop?: LifecycleHandler
    readonly stopSignal?: string
  }
  readonly terminationMessagePath?: string
  readonly terminationMessagePolicy?: 'File' | 'FallbackToLogsOnError'
  readonly securityContext?: SecurityContext
  readonly stdin?: boolean
  readonly stdinOnce?: boolean
  readonly tty?: boolean
}
