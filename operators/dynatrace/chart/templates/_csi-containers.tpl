{{- /* The containers of the CSI driver, each as a list item without its position in the list. */}}

{{- /* What all containers have in common. Takes the chart's root and the values of the container. */}}
{{- define "dynatrace.csiContainerBase" -}}
{{- $root := index . 0 -}}
{{- $values := index . 1 -}}
image: {{ include "dynatrace.image" $root }}
imagePullPolicy: {{ include "dynatrace.imagePullPolicy" $root }}
{{- with $values.securityContext }}
securityContext: {{- toYaml . | nindent 2 }}
{{- end }}
resources: {{- $values.resources | default dict | toYaml | nindent 2 }}
{{- end }}

{{- define "dynatrace.csiNodeEnv" -}}
- name: POD_NAMESPACE
  valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
- name: KUBE_NODE_NAME
  valueFrom: { fieldRef: { fieldPath: spec.nodeName } }
{{- end }}

{{- /* Links volumes of earlier releases to where the driver looks for them. */}}
{{- define "dynatrace.csiInitContainer" -}}
{{- with .Values.csidriver.csiInit -}}
name: csi-init
{{ include "dynatrace.csiContainerBase" (list $ .) }}
args: [csi-init]
env:
  - name: POD_NAMESPACE
    valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
  {{- include "dynatrace.csiMemoryEnv" . | nindent 2 }}
  {{- include "dynatrace.modulesEnv" $ | nindent 2 }}
volumeMounts:
  - { name: data-dir, mountPath: /data }
{{- end }}
{{- end }}

{{- /* Mounts volumes; without separate sidecars it registers with the kubelet and serves the probe, too. */}}
{{- define "dynatrace.csiServerContainer" -}}
{{- $isAlone := not .Values.csidriver.separateSidecars -}}
{{- with .Values.csidriver.server -}}
name: server
{{ include "dynatrace.csiContainerBase" (list $ .) }}
args:
  - csi-server
  - --endpoint=unix:/csi/csi.sock
  - --node-id=$(KUBE_NODE_NAME)
  {{- if $isAlone }}
  - --kubelet-registration-path={{ include "dynatrace.csiPluginPath" $ }}/csi.sock
  {{- if .livenessProbe.enabled }}
  - --health-port=9808
  - --probe-timeout=9s
  {{- end }}
  {{- end }}
env:
  {{- include "dynatrace.csiNodeEnv" $ | nindent 2 }}
  {{- include "dynatrace.csiMemoryEnv" . | nindent 2 }}
  {{- include "dynatrace.settingsEnv" $ | nindent 2 }}
ports:
  - { name: server-metrics, containerPort: 8080 }
{{- if .livenessProbe.enabled }}
livenessProbe:
  httpGet: { path: /healthz, port: 9808, scheme: HTTP }
  {{- omit .livenessProbe "enabled" | toYaml | nindent 2 }}
{{- end }}
volumeMounts:
  # The data directory is in it. Without propagation, what was mounted there when the container started stays mounted in the
  # container for good, and the directories of these volumes cannot be deleted.
  - { name: plugin-dir, mountPath: /csi, mountPropagation: HostToContainer }
  {{- if $isAlone }}
  - { name: registration-dir, mountPath: /registration }
  {{- end }}
  # At the same path as on the node: the kubelet names the targets of mounts by their path there.
  - { name: mountpoint-dir, mountPath: {{ include "dynatrace.kubeletPath" $ }}/pods/, mountPropagation: Bidirectional }
  - { name: data-dir, mountPath: /data, mountPropagation: Bidirectional }
{{- end }}
{{- end }}

{{- /* Installs code modules. It sees the mounts of the server, so that it never deletes a code module in use. */}}
{{- define "dynatrace.csiProvisionerContainer" -}}
{{- with .Values.csidriver.provisioner -}}
name: provisioner
{{ include "dynatrace.csiContainerBase" (list $ .) }}
args:
  - csi-provisioner
  - --health-probe-bind-address=:10090
env:
  {{- include "dynatrace.csiNodeEnv" $ | nindent 2 }}
  # The data directory as a path of the node, for the Jobs that download into it.
  - name: CSI_DATA_DIR
    value: {{ include "dynatrace.csiDataPath" $ }}
  {{- with $.Values.csidriver.cleanupPeriod }}
  - name: CLEANUP_PERIOD
    value: {{ . | quote }}
  {{- end }}
  {{- include "dynatrace.csiMemoryEnv" . | nindent 2 }}
  {{- include "dynatrace.settingsEnv" $ | nindent 2 }}
  {{- with include "dynatrace.metricsEnv" $ | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  - name: helm.json
    value: |
      {{- include "dynatrace.csiJobSettings" $ | nindent 6 }}
ports:
  - { name: livez, containerPort: 10090 }
  - { name: prov-metrics, containerPort: 8090 }
# Without the DNS of the cluster neither a tenant nor a registry is found: another start may help. On a busy node the
# process of the probe takes a while.
startupProbe:
  exec: { command: [/usr/local/bin/dynatrace-operator, startup-probe] }
  periodSeconds: 10
  timeoutSeconds: 10
  failureThreshold: 6
livenessProbe:
  httpGet: { path: /livez, port: livez, scheme: HTTP }
  initialDelaySeconds: 5
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 3
volumeMounts:
  - { name: data-dir, mountPath: /data, mountPropagation: Bidirectional }
  - name: mountpoint-dir
    mountPath: {{ include "dynatrace.kubeletPath" $ }}/pods/
    readOnly: true
    mountPropagation: HostToContainer
{{- end }}
{{- end }}

{{- /* The values of a sidecar, with defaults for those that are not set. */}}
{{- define "dynatrace.csiSidecar" -}}
securityContext:
{{- with .securityContext }}
  {{- toYaml . | nindent 2 }}
{{- else }}
  privileged: false
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  runAsNonRoot: false
  runAsUser: 0
  seccompProfile: { type: RuntimeDefault }
{{- end }}
resources:
{{- with .resources }}
  {{- toYaml . | nindent 2 }}
{{- else }}
  requests: { cpu: 20m, memory: 40Mi }
  limits: { cpu: 200m, memory: 64Mi }
{{- end }}
{{- end }}

{{- /* Announces the driver to the kubelet. */}}
{{- define "dynatrace.csiRegistrarContainer" -}}
{{- with include "dynatrace.csiSidecar" .Values.csidriver.registrar | fromYaml -}}
name: registrar
{{ include "dynatrace.csiContainerBase" (list $ .) }}
args:
  - csi-node-driver-registrar
  - --csi-address=/csi/csi.sock
  - --kubelet-registration-path=$(DRIVER_REG_SOCK_PATH)
env:
  - name: DRIVER_REG_SOCK_PATH
    value: {{ include "dynatrace.csiPluginPath" $ }}/csi.sock
  {{- include "dynatrace.csiMemoryEnv" . | nindent 2 }}
volumeMounts:
  - { name: plugin-dir, mountPath: /csi }
  - { name: registration-dir, mountPath: /registration }
{{- end }}
{{- end }}

{{- /* Lets the kubelet probe the server over HTTP. */}}
{{- define "dynatrace.csiLivenessContainer" -}}
{{- with include "dynatrace.csiSidecar" .Values.csidriver.livenessprobe | fromYaml -}}
name: liveness-probe
{{ include "dynatrace.csiContainerBase" (list $ .) }}
args:
  - livenessprobe
  - --csi-address=/csi/csi.sock
  - --health-port=9808
  - --probe-timeout=9s
env:
  {{- include "dynatrace.csiMemoryEnv" . | nindent 2 }}
volumeMounts:
  - { name: plugin-dir, mountPath: /csi }
{{- end }}
{{- end }}

{{- /*
Keeps memory low on every node: with its usual size V8's young generation takes another 35 MiB while many volumes are
published at once. Takes the values of the container.
*/}}
{{- define "dynatrace.csiMemoryEnv" -}}
{{- $heap := include "dynatrace.nodeOptions" (dig "limits" "memory" "" (.resources | default dict)) -}}
- name: NODE_OPTIONS
  value: {{ printf "--max-semi-space-size=2 %s" $heap | trim | quote }}
{{- end }}
