{{- define "dynatrace.checkModules" -}}
{{- if and .Values.rbac.kubernetesMonitoring.create (not .Values.rbac.activeGate.create) }}
{{- fail "rbac.kubernetesMonitoring.create needs rbac.activeGate.create: an ActiveGate does the monitoring" }}
{{- end }}
{{- if and .Values.rbac.kspm.create (not .Values.rbac.kubernetesMonitoring.create) }}
{{- fail "rbac.kspm.create needs rbac.kubernetesMonitoring.create: it reports to the monitored cluster" }}
{{- end }}
{{- end }}

{{- define "dynatrace.modules" -}}
{
  "csiDriver": {{ .Values.csidriver.enabled }},
  "activeGate": {{ .Values.rbac.activeGate.create }},
  "oneAgent": {{ .Values.rbac.oneAgent.create }},
  "extensions": {{ .Values.rbac.extensions.create }},
  "logMonitoring": {{ .Values.rbac.logMonitoring.create }},
  "edgeConnect": {{ .Values.rbac.edgeConnect.create }},
  "supportability": {{ .Values.rbac.supportability }},
  "kubernetesMonitoring": {{ .Values.rbac.kubernetesMonitoring.create }},
  "kspm": {{ .Values.rbac.kspm.create }}
}
{{- end }}
