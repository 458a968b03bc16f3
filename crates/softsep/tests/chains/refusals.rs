//! Proposals that do not fit their states are refused by name.

use super::{ellipsoid, finite_sets, state_spec};
use softsep::Problem;
use softsep::internals::proposal::{KernelMixture, LangevinOnSphere, ProposalMixture, Tilted, Uniform, Weighted};
use softsep::proposal::{ProposalKind, ProposalOptions};

/// A proposal that the states cannot carry is refused, with the names of those that they can.
#[test]
fn proposals_by_name() {
    let (list, sphere) = (&finite_sets(3)[0], &ellipsoid(3, 8));
    let works = |problem: &Problem| -> Vec<&str> {
        let states = problem.set.states(&state_spec(true)).unwrap();
        let works = |choice: &ProposalKind| choice.build(states.as_ref(), &ProposalOptions::default()).is_ok();
        ProposalKind::NAMES.iter().filter(|(_, choice)| works(choice)).map(|(name, _)| *name).collect()
    };
    assert_eq!(works(list), ["auto", "uniform", "adaptive", "local"]);
    assert_eq!(works(sphere), ["auto", "uniform", "adaptive", "geodesic", "tangent", "langevin", "local"]);
    let states = list.set.states(&state_spec(true)).unwrap();
    let refusal = |choice: ProposalKind, options| choice.build(states.as_ref(), &options).err().unwrap().to_string();
    assert_eq!(
        refusal(ProposalKind::HitAndRun, ProposalOptions::default()),
        "hit-and-run moves in convex bodies, and these states are finitely many (13); auto, uniform, adaptive, \
         local would work"
    );
    for (name, choice) in ProposalKind::NAMES {
        assert_eq!((name.parse(), choice.to_string()), (Ok(choice), name.to_owned()));
    }
    assert!("steepest".parse::<ProposalKind>().unwrap_err().contains("adaptive, hit-and-run"));
    for options in [
        ProposalOptions { concentration: Some(f64::NAN), ..ProposalOptions::default() },
        ProposalOptions { share: 1.5, ..ProposalOptions::default() },
        ProposalOptions { step: 0.0, ..ProposalOptions::default() },
    ] {
        assert!(refusal(ProposalKind::Uniform, options).contains(" is not "));
    }
}

#[test]
fn weights_that_would_hide_a_scenario_are_refused() {
    let (list, sphere) = (&finite_sets(3)[0], &ellipsoid(3, 8));
    let states = list.set.states(&state_spec(true)).unwrap();
    let refusal = |weights: &[f64], share| Weighted::new(states.as_ref(), weights, share).err().unwrap().to_string();
    let mut weights = vec![1.0; 13];
    assert!(refusal(&weights[1..], 0.0).contains("12 weights"));
    assert!(refusal(&weights, -0.1).contains("share"));
    weights[4] = 0.0;
    assert!(refusal(&weights, 0.0).contains("scenario 4 has no weight"));
    assert!(Weighted::new(states.as_ref(), &weights, 0.1).is_ok());
    weights[4] = f64::INFINITY;
    assert!(refusal(&weights, 0.5).contains("scenario 4"));
    assert!(refusal(&[0.0; 13], 0.5).contains("all weights are zero"));
    assert!(Weighted::new(states.as_ref(), &[f64::MAX; 13], 0.0).is_ok());
    let states = sphere.set.states(&state_spec(true)).unwrap();
    assert!(Weighted::new(states.as_ref(), &[1.0], 0.0).is_err());
}

/// A mixture of proposals needs their densities and one slot per chain state; kernels alternate without densities.
#[test]
fn mixtures_that_cannot_be_are_refused() {
    let problem = &ellipsoid(3, 8);
    let states = problem.set.states(&state_spec(true)).unwrap();
    let states = states.as_ref();
    let tilted = || Box::new(Tilted { concentration: 1.0, share: 0.0 });
    let langevin = || Box::new(LangevinOnSphere::of(states, 1.0).unwrap());
    let refusal =
        |mixture: Result<ProposalMixture, softsep::proposal::ProposalError>| mixture.err().unwrap().to_string();
    assert!(refusal(ProposalMixture::new(states, tilted(), tilted(), 0.5)).contains("one tilt"));
    assert!(refusal(ProposalMixture::new(states, langevin(), langevin(), 0.5)).contains("one drift"));
    assert!(refusal(ProposalMixture::new(states, langevin(), tilted(), 1.5)).contains("share"));
    assert!(ProposalMixture::new(states, langevin(), tilted(), 0.5).is_ok());
    let alternate = || Box::new(KernelMixture::new(langevin(), tilted(), 0.5).unwrap());
    assert!(
        refusal(ProposalMixture::new(states, alternate(), Box::new(Uniform), 0.5))
            .contains("first proposal of a mixture has no density")
    );
    assert!(KernelMixture::new(alternate(), Box::new(Uniform), 0.5).is_err());
}
