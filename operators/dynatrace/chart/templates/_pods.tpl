{{- /* Parts that the pods of operator, webhook and migration share. */}}

{{- define "dynatrace.pullSecrets" -}}
{{- with .Values.customPullSecret -}}
imagePullSecrets:
  - name: {{ . }}
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

{{- /* What every process is told alike. Takes the chart's root and the component's values. */}}
{{- define "dynatrace.processEnv" -}}
{{- $root := index . 0 -}}
{{- with include "dynatrace.nodeOptions" (dig "memory" "" ((index . 1).limits | default dict)) -}}
- name: NODE_OPTIONS
  value: {{ . | quote }}
{{- end }}
{{- if $root.Values.debugLogs }}
- name: LOG_LEVEL
  value: debug
{{- end }}
- name: modules.json
  value: |
    {{- include "dynatrace.modules" $root | nindent 4 }}
{{- end }}
