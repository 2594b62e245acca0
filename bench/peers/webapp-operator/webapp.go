package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

// WebApp is the part of the resource that the benchmark uses.
type WebApp struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WebAppSpec   `json:"spec"`
	Status            WebAppStatus `json:"status,omitempty"`
}

type WebAppSpec struct {
	Image    string      `json:"image"`
	Replicas int32       `json:"replicas"`
	Port     int32       `json:"port"`
	Service  ServiceSpec `json:"service"`
}

type ServiceSpec struct {
	Type string `json:"type"`
	Port int32  `json:"port"`
}

type WebAppStatus struct {
	Phase              string             `json:"phase,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Replicas           int32              `json:"replicas"`
	AvailableReplicas  int32              `json:"availableReplicas"`
	Selector           string             `json:"selector,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

type WebAppList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []WebApp `json:"items"`
}

func (in *WebApp) DeepCopyObject() runtime.Object {
	out := *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = append([]metav1.Condition(nil), in.Status.Conditions...)
	return &out
}

func (in *WebAppList) DeepCopyObject() runtime.Object {
	out := *in
	out.Items = make([]WebApp, len(in.Items))
	for i := range in.Items {
		out.Items[i] = *in.Items[i].DeepCopyObject().(*WebApp)
	}
	return &out
}

var schemeBuilder = (&scheme.Builder{GroupVersion: schema.GroupVersion{Group: "example.com", Version: "v1"}}).
	Register(&WebApp{}, &WebAppList{})
