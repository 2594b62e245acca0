{{- /* Parts that the pods of operator, webhook and migration share. */}}

{{- define "dynatrace.pullSecrets" -}}
{{- with .Values.customPullSecret -}}
imagePullSecrets:
  - name: {{ . }}
{{- end }}
{{- end }}

{{- /* From Kubernetes 1.31 on, AppArmor is part of the security context; before, it is an annotation. */}}
{{- define "dynatrace.hasAppArmorField" -}}
{{- if semverCompare ">=1.31.0-0" .Capabilities.KubeVersion.Version }}true{{ end }}
{{- end }}

{{- /* The annotation about AppArmor. Takes the chart's root, the component's values and the name of the container. */}}
{{- define "dynatrace.appArmorAnnotation" -}}
{{- if and (index . 1).apparmor (not (include "dynatrace.hasAppArmorField" (index . 0))) -}}
container.apparmor.security.beta.kubernetes.io/{{ index . 2 }}: runtime/default
{{- end }}
{{- end }}

{{- /* The security context of a pod. Takes the chart's root and the component's values. */}}
{{- define "dynatrace.podSecurityContext" -}}
{{- $values := index . 1 -}}
{{- $context := $values.podSecurityContext | default dict -}}
{{- if and $values.apparmor (include "dynatrace.hasAppArmorField" (index . 0)) -}}
{{- $context = merge (dict "appArmorProfile" (dict "type" "RuntimeDefault")) $context -}}
{{- end -}}
{{- with $context -}}
securityContext: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Where there is an image for. */}}
{{- define "dynatrace.nodeAffinity" -}}
nodeAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
    nodeSelectorTerms:
      - matchExpressions:
          - { key: kubernetes.io/arch, operator: In, values: [amd64, arm64, ppc64le, s390x] }
          - { key: kubernetes.io/os, operator: In, values: [linux] }
{{- end }}

{{- /* Clusters of several architectures taint the rarer ones. */}}
{{- define "dynatrace.architectureTolerations" -}}
- { key: kubernetes.io/arch, operator: Equal, value: arm64, effect: NoSchedule }
- { key: kubernetes.io/arch, operator: Equal, value: amd64, effect: NoSchedule }
- { key: kubernetes.io/arch, operator: Equal, value: ppc64le, effect: NoSchedule }
- { key: kubernetes.io/arch, operator: Equal, value: s390x, effect: NoSchedule }
{{- end }}

{{- /* Takes an object with requests and limits. */}}
{{- define "dynatrace.resources" -}}
{{- with .requests -}}
requests: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .limits }}
limits: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Who a process is. */}}
{{- define "dynatrace.podEnv" -}}
- name: POD_NAMESPACE
  valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
- name: POD_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
{{- end }}

{{- /*
Variables of all processes. Takes the chart's root, the component's values and, where V8 would derive too small a size from
the memory limit, the young generation's in MiB.
*/}}
{{- define "dynatrace.processEnv" -}}
{{- $young := rest . | rest | first -}}
{{- with include "dynatrace.nodeOptions" (dig "memory" "" ((index . 1).limits | default dict)) -}}
- name: NODE_OPTIONS
  value: {{ printf "%s%s" (ternary (printf "--max-semi-space-size=%v " $young) "" (not (empty $young))) . | quote }}
{{- end }}
{{ include "dynatrace.settingsEnv" (index . 0) }}
{{- include "dynatrace.metricsEnv" (index . 0) }}
{{- end }}

{{- /* Variables that do not depend on the memory of a container. */}}
{{- define "dynatrace.settingsEnv" -}}
{{- if .Values.debugLogs -}}
- name: LOG_LEVEL
  value: debug
{{ end -}}
{{ include "dynatrace.modulesEnv" . }}
{{- end }}

{{- /* Of processes that can ask the API server who reads their metrics. */}}
{{- define "dynatrace.metricsEnv" -}}
{{- if .Values.metrics.protected }}
- name: METRICS_PROTECTED
  value: "true"
{{- end }}
{{- end }}

{{- /* Which modules are installed. */}}
{{- define "dynatrace.modulesEnv" -}}
- name: modules.json
  value: |
    {{- include "dynatrace.modules" . | nindent 4 }}
{{- end }}
