{{- /* All pods of the chart that serve metrics, as JSON: name, selector labels, component and ports. */}}
{{- define "dynatrace.monitoredPods" -}}
{{- $operator := dict "name" (include "dynatrace.operator" .) "labels" (include "dynatrace.operatorSelectorLabels" .) "component" "operator" "ports" (list "metrics") -}}
{{- $webhook := dict "name" (include "dynatrace.webhook" .) "labels" (include "dynatrace.webhookSelectorLabels" .) "component" "webhook" "ports" (list "metrics") -}}
{{- $csi := dict "name" (include "dynatrace.csi" .) "labels" (include "dynatrace.csiSelectorLabels" .) "component" "csi-driver" "ports" (list "server-metrics" "prov-metrics") -}}
{{- ternary (list $operator $webhook $csi) (list $operator $webhook) .Values.csidriver.enabled | toJson -}}
{{- end }}
